//! Slots over IPv6, and slots that change between the families.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv6Addr;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use wirelab_net::topology::{IPV4, IPV6};
use wirelab_schema::{
    AddressFamily, Certificates, EndpointParameters, EndpointProcess, LinkSpec, ReadyCondition, Role, SCHEMA_VERSION,
    ServerAddress, TrialRequest, TrialStatus,
};

use crate::machine::{AGENT, PATIENCE, namespaces_work};
use crate::support::{Host, ONE_WAY, assert_conserved, assert_echoes, assert_echoes_over, assert_replays, delay, log};

const EXCHANGES: u64 = 3;
/// Each way; more than any handshake.
const BODY_BYTES: u64 = 20_000;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
/// Each with its port and its protocol below.
const STACKS: [(&str, u16, u8); 7] = [
    ("raw-tcp", 7007, TCP),
    ("raw-udp", 7007, UDP),
    ("http1", 8080, TCP),
    ("https1", 8443, TCP),
    ("h2c", 8080, TCP),
    ("h2", 8443, TCP),
    ("h3", 8443, UDP),
];

/// A host with a slot; `None`, with a message, if IPv6 is not available.
fn open() -> Option<Host> {
    if !namespaces_work() {
        return None;
    }
    let mut host = Host::start();
    let facts = host.open(1);
    if facts.settings["ipv6"] != "on" {
        eprintln!("not tested: {}", facts.settings["ipv6"]);
        return None;
    }
    let [link] = &facts.links[..] else { panic!("{facts:?}") };
    assert_eq!((link.near[0].ipv4, link.far[0].ipv4), (IPV4.client, IPV4.server));
    assert_eq!((link.near[0].ipv6, link.far[0].ipv6), (Some(IPV6.client), Some(IPV6.server)));
    Some(host)
}

fn ipv6(link: LinkSpec) -> LinkSpec {
    LinkSpec { family: Some(AddressFamily::Ipv6), ..link }
}

#[test]
fn a_slot_changes_between_the_families_and_mtus_and_every_packet_is_accounted_for() {
    let Some(mut host) = open() else { return };
    assert_echoes_over(&mut host, "first", Some(AddressFamily::Ipv6));
    assert_echoes(&mut host, "between");
    // An MTU that takes the kernel's IPv6 addresses away.
    let narrow = LinkSpec { mtu: Some(600), ..delay(ONE_WAY) };
    let endpoints = vec![host.server("udp_echo"), host.client("udp_pinger")];
    assert_eq!(host.run(host.trial("narrow", narrow, endpoints)).status, TrialStatus::Done);
    assert_echoes_over(&mut host, "second", Some(AddressFamily::Ipv6));
    assert_echoes(&mut host, "last");
    assert_replays(&host, "second");
}

#[test]
fn a_bulk_upload_over_ipv6_arrives_intact_in_packets_of_the_links_mtu() {
    let Some(mut host) = open() else { return };
    for (mtu, largest) in [(None, 1500), (Some(1280), 1280)] {
        let link = ipv6(LinkSpec { mtu, ..delay(Duration::from_millis(1)) });
        let endpoints = vec![host.server("tcp_bulk_server"), host.client("tcp_bulk_client")];
        let result = host.run(host.trial("bulk", link, endpoints));
        assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
        result.link.directions.iter().for_each(assert_conserved);
        assert_eq!(log(&host, "bulk").1.iter().map(|(record, _)| record.size).max(), Some(largest));
    }
}

#[test]
fn what_ipv6_cannot_do_is_refused_with_the_reason() {
    let Some(mut host) = open() else { return };
    let refused = |host: &mut Host, change: &dyn Fn(&mut TrialRequest)| {
        let mut trial = host.trial("refused", ipv6(delay(ONE_WAY)), vec![host.endpoint("client", &["true"])]);
        change(&mut trial);
        host.refusal(trial)
    };
    let narrow = refused(&mut host, &|trial| trial.link.mtu = Some(1279));
    assert_eq!(narrow, "mtu: 1279 is below 1280, the minimum of IPv6 (RFC 8200 section 5)");
    let unknown = refused(&mut host, &|trial| trial.congestion_control = "none-such".into());
    assert!(unknown.starts_with("routing to fd77::2 with congestion control none-such: "), "{unknown}");
    assert_echoes_over(&mut host, "after-all", Some(AddressFamily::Ipv6));
}

#[test]
fn readiness_over_ipv6_is_probed_inside_the_servers_own_namespace() {
    let Some(mut host) = open() else { return };
    let timeout_ns = PATIENCE.as_nanos() as u64;
    let tcp = ("tcp_sink", ReadyCondition::TcpConnect { port: 9000, timeout_ns });
    let udp = ("udp_echo", ReadyCondition::UdpBound { port: 9000, timeout_ns });
    for (role, ready) in [tcp, udp] {
        let mut server = host.server(role);
        server.ready = Some(ready);
        let endpoints = vec![server, host.endpoint("client", &["true"])];
        let result = host.run(host.trial("probed", ipv6(delay(ONE_WAY)), endpoints));
        assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
        assert_eq!(result.link.directions[0].received, 0);
    }
}

#[test]
fn what_an_ipv6_connection_still_says_after_its_trial_does_not_reach_the_next() {
    let Some(mut host) = open() else { return };
    let endpoints = vec![host.server("tcp_sink"), host.client("tcp_deserter")];
    let result = host.run(host.trial("deserter", ipv6(delay(Duration::from_millis(100))), endpoints));
    assert_eq!(result.status, TrialStatus::Done, "{result:?}");
    assert!(result.link.directions[0].held > 0, "{result:?}");
    let idle = host.endpoint("client", &["sleep", "1"]);
    let result = host.run(host.trial("idle", ipv6(delay(Duration::ZERO)), vec![idle]));
    assert_eq!(result.link.directions.iter().map(|direction| direction.received).sum::<u64>(), 0);
}

#[test]
fn every_built_in_stack_exchanges_over_ipv6_and_nothing_else_is_on_the_link() {
    let Some(mut host) = open() else { return };
    let certificates = host.folder.path().join("certificates");
    let made = Command::new(AGENT).arg("certificates").arg("--out").arg(&certificates).status().unwrap();
    assert!(made.success());
    for (stack, port, protocol) in STACKS {
        let endpoints = [Role::Server, Role::Client].map(|role| endpoint(&host, stack, port, role)).to_vec();
        let result = host.run(host.trial(stack, ipv6(delay(Duration::from_millis(2))), endpoints));
        assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{stack}: {result:?}");
        assert_eq!((result.link.kernel_drops, result.link.oversized), (0, 0), "{stack}");
        for direction in &result.link.directions {
            assert_conserved(direction);
            assert!(direction.delivered_bytes > EXCHANGES * BODY_BYTES, "{stack}: {direction:?}");
        }
        let (_, records) = log(&host, stack);
        for (_, packet) in &records {
            // What comes after a socket is closed is answered by "port unreachable" (RFC 4443 section 3.1), as over IPv4.
            let unreachable = protocol == UDP && packet[6] == ICMPV6 && packet[40..42] == [1, 4];
            assert!(packet[0] >> 4 == 6 && (packet[6] == protocol || unreachable), "{stack}: {packet:x?}");
            let address = |at: usize| Ipv6Addr::from(<[u8; 16]>::try_from(&packet[at..at + 16]).unwrap());
            let mut ends = [address(8), address(24)];
            ends.sort_unstable();
            assert_eq!(ends.map(|end| end.to_string()), ["fd77::1", "fd77::2"], "{stack}");
        }
    }
}

/// One of our own, whose folder is named after stack and role.
fn endpoint(host: &Host, stack: &str, port: u16, role: Role) -> EndpointProcess {
    let name = if role == Role::Server { "server" } else { "client" };
    let folder = host.folder.path().join(format!("{stack}-{name}"));
    fs::create_dir(&folder).unwrap();
    let pem = |file: &str| host.folder.path().join("certificates").join(file);
    let workload = json!({
        "kind": "request-response", "upload_bytes": BODY_BYTES, "download_bytes": BODY_BYTES, "exchanges": EXCHANGES,
        "arrival": {"process": "closed"}, "concurrency": 1, "timeout_ns": PATIENCE.as_nanos() as u64,
        "connection": {"policy": "new"},
    });
    let parameters = EndpointParameters {
        schema_version: SCHEMA_VERSION,
        protocol: stack.into(),
        role,
        server: ServerAddress { address: IPV6.server, port, name: "server.test".into() },
        upstream: None,
        settings: BTreeMap::new(),
        workload: serde_json::from_value(workload).unwrap(),
        page: None,
        certificates: Some(Certificates {
            authority: pem("authority.pem"),
            chain: pem("chain.pem"),
            key: pem("key.pem"),
            client: None,
        }),
        output: folder.clone(),
        seed: 1,
    };
    let file = folder.join("parameters.json");
    fs::write(&file, serde_json::to_vec(&parameters).unwrap()).unwrap();
    let mut endpoint = host.endpoint(name, &["./wirelab-agent", "endpoint", file.to_str().unwrap()]);
    if role == Role::Server {
        endpoint.ready = Some(ReadyCondition::Event { timeout_ns: PATIENCE.as_nanos() as u64 });
        endpoint.ends_trial = false;
    }
    endpoint
}
