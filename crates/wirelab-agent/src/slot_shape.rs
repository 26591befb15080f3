//! Hosts and links of a slot, as they cross the border and as namespaces are made of them.

use wirelab_net::link::PortId;
use wirelab_net::topology::{LinkShape, Shape, ipv4, ipv6};
use wirelab_schema::{HostAddress, LinkAddresses, SlotLink};

/// Of these links; of none, a client and a server. The error says why no slot can have them.
pub fn shape(links: &[SlotLink]) -> Result<Shape, String> {
    if links.is_empty() {
        return Ok(Shape::default());
    }
    let link = |SlotLink { name, near, far }| LinkShape { name, near, far };
    Shape::new(links.iter().cloned().map(link).collect()).map_err(|error| format!("links: {error}"))
}

/// The links of a slot, written out.
pub fn slot_links(shape: &Shape) -> Vec<SlotLink> {
    let link = |LinkShape { name, near, far }| SlotLink { name, near, far };
    shape.links().iter().cloned().map(link).collect()
}

/// The addresses of all hosts; IPv6 addresses only if the slots have any.
pub fn addresses(shape: &Shape, has_ipv6: bool) -> Vec<LinkAddresses> {
    let links = shape.links().iter().enumerate().map(|(number, link)| {
        let address = |(port, host): (PortId, &str)| HostAddress {
            host: host.to_owned(),
            ipv4: ipv4(number, port),
            ipv6: has_ipv6.then(|| ipv6(number, port)),
        };
        let mut near: Vec<_> = link.ports().map(address).collect();
        let far = near.split_off(link.near.len());
        LinkAddresses { name: link.name.clone(), near, far }
    });
    links.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_without_links_in_the_request_have_a_client_and_a_server() {
        let shape = shape(&[]).unwrap();
        let [link] = &addresses(&shape, true)[..] else { panic!("one link") };
        assert_eq!(link.name, "main");
        let [client, server] = [&link.near[0], &link.far[0]];
        assert_eq!((&*client.host, client.ipv4.to_string()), ("client", "10.77.0.1".into()));
        assert_eq!((&*server.host, server.ipv4.to_string()), ("server", "10.77.0.2".into()));
        assert_eq!([client.ipv6, server.ipv6].map(|address| address.unwrap().to_string()), ["fd77::1", "fd77::2"]);
        assert_eq!(addresses(&shape, false)[0].near[0].ipv6, None);
        assert_eq!(slot_links(&shape).len(), 1);
    }

    #[test]
    fn a_link_that_a_slot_cannot_have_is_named() {
        let link = SlotLink { name: "air".into(), near: vec!["client".into()], far: vec![] };
        assert_eq!(shape(&[link]).unwrap_err(), "links: air.far: 0 hosts; there can be 1 to 127");
    }
}
