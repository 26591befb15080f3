//! Interfaces, addresses, neighbours and routes of the current network namespace.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressFlags};
use netlink_packet_route::link::{InfoData, InfoVeth, LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::neighbour::NeighbourState;
use netlink_packet_route::route::{RouteAttribute, RouteMessage, RouteMetric, RouteScope};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2};
use rtnetlink::packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use rtnetlink::{Handle, LinkMessageBuilder, LinkUnspec, LinkVeth, RouteMessageBuilder};
use tokio::runtime::{Builder, Runtime};

use super::qdisc::{self, Qdisc, QdiscCounts};
use crate::{Context, Error};

/// `RTAX_CC_ALGO`, whose bit in `RTAX_LOCK` locks it.
const RTAX_CC_ALGO: u32 = 16;
const QUEUE_LENGTH: u32 = 10_000;
/// Indices from here on are those of first ends. Two ends in different namespaces else have the same one, and the kernel takes a veth of equal
/// indices for no pair: it tells up to a second later that the interfaces run (linkwatch_urgent_event in net/core/link_watch.c).
const FIRST_INDEX: u32 = 1000;
/// How long to wait for an interface to run, and between looks.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

/// Make a veth whose second end is in `namespace` and has `mac`.
pub(super) fn create_veth(
    name: &str,
    peer: &str,
    namespace: BorrowedFd<'_>,
    mac: [u8; 6],
    mtu: u32,
) -> Result<(), Error> {
    let peer = LinkMessageBuilder::<LinkUnspec>::new()
        .name(peer)
        .setns_by_fd(namespace.as_raw_fd())
        .address(mac.to_vec())
        .mtu(mtu)
        .txqueuelen(QUEUE_LENGTH)
        .build();
    let others = nix::net::if_::if_nameindex().context("listing interfaces")?.iter().count();
    let veth = LinkMessageBuilder::<LinkVeth>::new_with_info_kind(netlink_packet_route::link::InfoKind::Veth)
        .name(name)
        .index(FIRST_INDEX + others as u32)
        .mtu(mtu)
        .txqueuelen(QUEUE_LENGTH)
        .set_info_data(InfoData::Veth(InfoVeth::Peer(peer)))
        .build();
    run(async |handle| handle.link().add(veth).execute().await).context(format!("making the veth {name}"))
}

/// Set the hardware address of an interface.
pub(super) fn hardware_address(interface: &str, mac: [u8; 6]) -> Result<(), Error> {
    let message = LinkUnspec::new_with_name(interface).address(mac.to_vec()).build();
    run(async |handle| handle.link().set(message).execute().await)
        .context(format!("setting the hardware address of {interface}"))
}

/// Bring an interface up.
pub(super) fn up(interface: &str) -> Result<(), Error> {
    let message = LinkUnspec::new_with_name(interface).up().build();
    run(async |handle| handle.link().set(message).execute().await).context(format!("bringing {interface} up"))
}

/// Wait until an interface that is up runs (RFC 2863 section 3.1.12: its operational state), as programs that look at it expect; for a while. Packets
/// pass before that.
pub(super) fn wait_until_running(interface: &str) -> Result<(), Error> {
    let give_up = Instant::now() + PATIENCE;
    while !link(interface)?.header.flags.contains(LinkFlags::Running) && Instant::now() < give_up {
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// Set the MTU of an interface.
pub(super) fn mtu(interface: &str, mtu: u32) -> Result<(), Error> {
    let message = LinkUnspec::new_with_name(interface).mtu(mtu).build();
    run(async |handle| handle.link().set(message).execute().await)
        .context(format!("setting the MTU of {interface} to {mtu}"))
}

/// Give an interface an address of its own, without a route to any network. One that it has already stays as it is.
pub(super) fn address(interface: &str, address: IpAddr) -> Result<(), Error> {
    let index = index(interface)?;
    let prefix = if address.is_ipv4() { 32 } else { 128 };
    run(async |handle| {
        let mut request = handle.address().add(index, address, prefix).replace();
        if address.is_ipv6() {
            // Usable immediately, without duplicate address detection (RFC 4862 section 5.4). Where local and other routes
            // share a table, a prefix route that is replaced would take the address's own route with it.
            let flags = AddressFlags::Nodad | AddressFlags::Permanent | AddressFlags::Noprefixroute;
            request.message_mut().attributes.push(AddressAttribute::Flags(flags));
        }
        request.execute().await
    })
    .context(format!("adding {address} to {interface}"))
}

/// Set the hardware address of `peer` for good.
pub(super) fn neighbour(interface: &str, peer: IpAddr, mac: [u8; 6]) -> Result<(), Error> {
    let index = index(interface)?;
    run(async |handle| {
        let neighbours = handle.neighbours();
        let request = neighbours.add(index, peer).link_layer_address(&mac).state(NeighbourState::Permanent);
        request.replace().execute().await
    })
    .context(format!("adding the neighbour {peer} to {interface}"))
}

/// Set the route to `peer`, with its congestion control locked if one is given.
pub(super) fn route(interface: &str, own: IpAddr, peer: IpAddr, congestion_control: Option<&str>) -> Result<(), Error> {
    let index = index(interface)?;
    let mut message = route_message(index, own, peer);
    if let Some(name) = congestion_control {
        let metrics = vec![RouteMetric::Lock(1 << RTAX_CC_ALGO), RouteMetric::CcAlgo(name.to_owned())];
        message.attributes.push(RouteAttribute::Metrics(metrics));
    }
    let what = match congestion_control {
        Some(name) => format!("routing to {peer} with congestion control {name}"),
        None => format!("routing to {peer}"),
    };
    run(async |handle| handle.route().add(message).replace().execute().await).context(what)
}

/// Set the route to a network, address and prefix length, by a `gateway` that has a route of its own.
pub(super) fn route_through(interface: &str, network: (IpAddr, u8), gateway: IpAddr) -> Result<(), Error> {
    let (address, prefix) = network;
    let what = format!("routing to {address}/{prefix} by {gateway}");
    let builder = RouteMessageBuilder::<IpAddr>::new().output_interface(index(interface)?);
    let builder = builder.destination_prefix(address, prefix).and_then(|builder| builder.gateway(gateway));
    let message = builder.map_err(io::Error::other).context(what.clone())?.build();
    run(async |handle| handle.route().add(message).replace().execute().await).context(what)
}

/// Packets that could not be sent through an interface.
pub(super) fn dropped(interface: &str) -> Result<u64, Error> {
    let counters = link(interface)?.attributes.into_iter().filter_map(|attribute| match attribute {
        LinkAttribute::Stats64(counters) => Some(counters.tx_dropped),
        _ => None,
    });
    Ok(counters.sum())
}

/// Put qdiscs on an interface that has none, each within the one before. Their handles count from 1.
pub(super) fn add_qdiscs(interface: &str, qdiscs: &[Qdisc]) -> Result<(), Error> {
    let index = index(interface)?;
    for (number, each) in (1..).zip(qdiscs) {
        let mut message = TcMessage::with_index(index as i32);
        message.header.handle = TcHandle { major: number, minor: 0 };
        message.header.parent = if number == 1 { TcHandle::ROOT } else { TcHandle { major: number - 1, minor: 1 } };
        message.attributes = each.attributes();
        if number == 1 {
            message.attributes.extend(qdisc::size_table(qdisc::counted_overhead(qdiscs)));
        }
        let added = run(async |mut handle| {
            let mut request = NetlinkMessage::from(RouteNetlinkMessage::NewQueueDiscipline(message));
            request.header.flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
            let mut answers = handle.request(request)?;
            while let Some(answer) = answers.next().await {
                if let NetlinkPayload::Error(error) = answer.payload {
                    return Err(rtnetlink::Error::NetlinkError(error));
                }
            }
            Ok(())
        });
        added.context(format!("putting {} on {interface}", each.kind()))?;
    }
    Ok(())
}

/// Take the root qdisc off an interface, with all within and every packet inside.
pub(super) fn remove_qdiscs(interface: &str) -> Result<(), Error> {
    let index = index(interface)?;
    run(async |handle| {
        let mut request = handle.qdisc().del(index as i32);
        request.message_mut().header.parent = TcHandle::ROOT;
        request.execute().await
    })
    .context(format!("taking the qdisc off {interface}"))
}

/// What the first `many` qdiscs of [`add_qdiscs`] have counted, outermost first.
pub(super) fn qdisc_counts(interface: &str, many: usize) -> Result<Vec<QdiscCounts>, Error> {
    let index = index(interface)?;
    let mut counts = vec![QdiscCounts::default(); many];
    run(async |handle| {
        // The kernel tells of those of every interface.
        let mut messages = handle.qdisc().get().execute();
        while let Some(message) = messages.try_next().await? {
            let place = usize::from(message.header.handle.major).wrapping_sub(1);
            if message.header.index == index as i32
                && let Some(counts) = counts.get_mut(place)
            {
                *counts = counted(&message);
            }
        }
        Ok(())
    })
    .context(format!("reading the counters of the qdisc on {interface}"))?;
    Ok(counts)
}

fn counted(message: &TcMessage) -> QdiscCounts {
    let mut counts = QdiscCounts::default();
    let statistics = message.attributes.iter().filter_map(|attribute| match attribute {
        TcAttribute::Stats2(statistics) => Some(statistics),
        _ => None,
    });
    for statistic in statistics.flatten() {
        match statistic {
            TcStats2::Basic(basic) => (counts.packets, counts.bytes) = (basic.packets.into(), basic.bytes),
            TcStats2::Queue(queue) => (counts.dropped, counts.waiting) = (queue.drops.into(), queue.qlen.into()),
            _ => {}
        }
    }
    counts
}

/// What the kernel says of an interface.
fn link(interface: &str) -> Result<LinkMessage, Error> {
    let message = run(async |handle| handle.link().get().match_name(interface.to_owned()).execute().try_next().await);
    let found = message.and_then(|message| message.ok_or_else(|| io::ErrorKind::NotFound.into()));
    found.context(format!("looking at {interface}"))
}

fn index(interface: &str) -> Result<u32, Error> {
    nix::net::if_::if_nametoindex(interface).context(format!("looking for {interface}"))
}

fn route_message(index: u32, own: IpAddr, peer: IpAddr) -> RouteMessage {
    match (own, peer) {
        (IpAddr::V4(own), IpAddr::V4(peer)) => RouteMessageBuilder::<Ipv4Addr>::new()
            .destination_prefix(peer, 32)
            .pref_source(own)
            .output_interface(index)
            .scope(RouteScope::Link)
            .build(),
        (own, peer) => {
            let ipv6 = |address| match address {
                IpAddr::V4(address) => Ipv4Addr::to_ipv6_mapped(&address),
                IpAddr::V6(address) => address,
            };
            let builder = RouteMessageBuilder::<Ipv6Addr>::new().destination_prefix(ipv6(peer), 128);
            builder.pref_source(ipv6(own)).output_interface(index).build()
        }
    }
}

thread_local! {
    /// To make one takes more system calls than to use it.
    static RUNTIME: io::Result<Runtime> = Builder::new_current_thread().enable_io().build();
}

/// Talk to the kernel about the current thread's network namespace.
fn run<T, F: Future<Output = Result<T, rtnetlink::Error>>>(work: impl FnOnce(Handle) -> F) -> io::Result<T> {
    RUNTIME.with(|runtime| match runtime {
        Ok(runtime) => talk(runtime, work),
        Err(error) => Err(error.kind().into()),
    })
}

fn talk<T, F: Future<Output = Result<T, rtnetlink::Error>>>(
    runtime: &Runtime,
    work: impl FnOnce(Handle) -> F,
) -> io::Result<T> {
    runtime.block_on(async {
        let (connection, handle, _) = rtnetlink::new_connection()?;
        let connection = tokio::spawn(connection);
        let result = work(handle).await;
        connection.abort();
        // Its socket would keep the namespace for as long as this thread has nothing else to say.
        let _ = connection.await;
        result.map_err(|error| match error {
            rtnetlink::Error::NetlinkError(message) => message.to_io(),
            other => io::Error::other(other),
        })
    })
}
