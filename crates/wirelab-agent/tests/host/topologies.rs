//! Slots of several hosts and several links.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use wirelab_capture::packet_log::Outcome;
use wirelab_net::link::PortId;
use wirelab_schema::{
    AddressFamily, EndpointProcess, HostFacts, HostOp, HostResult, ImpairmentSpec, LinkSpec, LinkTrial, LossSpec,
    MediumSpec, OpenSlots, RadioSpec, ReadyCondition, SerialiserSpec, SlotLink, TrafficReport, TrialRequest,
    TrialStatus,
};

use crate::machine::{PATIENCE, namespaces_work};
use crate::roles::{self, PACKETS};
use crate::support::{Host, ONE_WAY, assert_conserved, assert_replays, delay, log};

fn link(name: &str, near: &[&str], far: &[&str]) -> SlotLink {
    let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    SlotLink { name: name.into(), near: hosts(near), far: hosts(far) }
}

fn open(host: &mut Host, links: Vec<SlotLink>) -> HostFacts {
    host.open_with(OpenSlots { slots: 1, mtu: 1500, links, ..OpenSlots::default() })
}

/// Address and port of a host's server on a link.
fn at(facts: &HostFacts, link: &str, host: &str) -> String {
    let link = facts.links.iter().find(|candidate| candidate.name == link).unwrap();
    let host = link.near.iter().chain(&link.far).find(|candidate| candidate.host == host).unwrap();
    host.ipv4.to_string()
}

/// One of this program's roles, named `name`, on a host.
fn process(mut endpoint: EndpointProcess, host: &Host, name: &str, on: &str, server: &str) -> EndpointProcess {
    endpoint.environment.insert(roles::ADDRESS.into(), server.into());
    endpoint.host = on.into();
    endpoint.stdout = host.folder.path().join(format!("{name}.out"));
    endpoint.stderr = host.folder.path().join(format!("{name}.err"));
    endpoint.name = name.into();
    endpoint
}

#[test]
fn a_relay_in_the_middle_joins_two_links_each_with_its_own_delay_log_and_accounts() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    let facts = open(&mut host, vec![link("air", &["client"], &["relay"]), link("wire", &["relay"], &["server"])]);
    let [front, back] = [at(&facts, "air", "relay"), at(&facts, "wire", "server")];
    assert_eq!((&*front, &*back), ("10.77.0.2", "10.77.1.2"));
    let server = process(host.server("udp_echo"), &host, "server", "server", &back);
    let mut relay = process(host.server("udp_relay"), &host, "relay", "relay", &front);
    relay.environment.insert(roles::UPSTREAM.into(), back.clone());
    let client = process(host.client("udp_pinger"), &host, "client", "client", &front);
    let wire = LinkTrial { link: delay(ONE_WAY / 2), seed: 7, packet_log: Some(host.log("wire")), rests: false };
    let trial = TrialRequest {
        other_links: BTreeMap::from([("wire".to_owned(), wire)]),
        ..host.trial("air", delay(ONE_WAY), vec![server, relay, client])
    };
    let result = host.run(trial);
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    let round_trips = host.printed("client", "round-trip");
    assert_eq!(round_trips.len(), PACKETS);
    assert!(round_trips.iter().all(|time| Duration::from_nanos(*time) >= 3 * ONE_WAY), "{round_trips:?}");
    for report in [&result.link, &result.other_links["wire"]] {
        assert_eq!((report.kernel_drops, report.oversized), (0, 0));
        for direction in &report.directions {
            assert_conserved(direction);
            assert_eq!(direction.delivered, PACKETS as u64);
        }
    }
    for (name, seed, delay) in [("air", 1, ONE_WAY), ("wire", 7, ONE_WAY / 2)] {
        let (header, records) = log(&host, name);
        let hosts = if name == "air" { ["client", "relay"] } else { ["relay", "server"] };
        assert_eq!((header.seed, header.ports), (seed, hosts.map(str::to_owned).to_vec()));
        assert!(records.iter().all(|(record, _)| record.departure == record.arrival + delay));
        assert_replays(&host, name);
    }
}

#[test]
fn two_stations_share_one_air_and_each_gets_its_own_answers() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    let facts = open(&mut host, vec![link("air", &["client", "other"], &["server", "cloud"])]);
    let server = at(&facts, "air", "server");
    let cloud = at(&facts, "air", "cloud");
    assert_eq!((&*server, &*cloud), ("10.77.0.2", "10.77.0.4"));
    let mut other = process(host.sender(2000, 1000, Duration::from_micros(200)), &host, "other", "other", &cloud);
    other.ends_trial = true;
    let endpoints = vec![
        process(host.server("udp_echo"), &host, "server", "server", &server),
        process(host.server("udp_sink"), &host, "cloud", "cloud", &cloud),
        other,
        process(host.client("udp_pinger"), &host, "client", "client", &server),
    ];
    // 1000 bytes take 2 ms: what one station sends is far more than the air can carry.
    let medium = Some(MediumSpec::Serialiser(SerialiserSpec {
        rate_bps: 4_000_000,
        queue_bytes: Some(8000),
        queue_packets: None,
        overhead_bytes: 0,
    }));
    let trial = host.trial("air", LinkSpec { medium, ..LinkSpec::default() }, endpoints);
    let result = host.run(trial);
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    // Each has a queue of its own and they are served in turn, so that a ping waits for one packet and never for the queue.
    let round_trips = host.printed("client", "round-trip");
    assert_eq!(round_trips.len(), PACKETS);
    let (header, records) = log(&host, "air");
    assert_eq!(header.ports, ["client", "server", "other", "cloud"]);
    let of =
        |port: u16| records.iter().filter(move |(record, _)| record.port == PortId(port)).map(|(record, _)| record);
    assert!(of(0).all(|record| record.outcome == Outcome::Delivered));
    assert!(of(0).all(|record| record.departure <= record.arrival + 3 * Duration::from_millis(2)));
    assert!(of(2).any(|record| record.outcome == Outcome::QueueFull));
    assert_eq!((of(1).count(), of(3).count()), (PACKETS, 0));
    assert!(fs::read_to_string(host.folder.path().join("cloud.out")).unwrap().contains("length 1000"));
    result.link.directions.iter().for_each(assert_conserved);
    assert_replays(&host, "air");
}

#[test]
fn hosts_of_one_side_do_not_reach_one_another_and_nobody_a_link_without_a_part_in_the_trial() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    let links = vec![link("air", &["client", "other"], &["server"]), link("wire", &["client"], &["cloud"])];
    let facts = open(&mut host, links);
    for (on, through) in [("other", "air"), ("cloud", "wire")] {
        let server = at(&facts, through, on);
        let endpoints = vec![
            process(host.server("udp_echo"), &host, "server", on, &server),
            process(host.client("udp_hopeless"), &host, "client", "client", &server),
        ];
        let result = host.run(host.trial(on, delay(Duration::ZERO), endpoints));
        assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
        assert_eq!(result.link.directions[0].received, 0);
        assert!(result.other_links.is_empty());
    }
}

#[test]
fn a_link_that_a_slot_or_several_hosts_cannot_have_is_refused_with_the_reason() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    let bad = OpenSlots { slots: 1, mtu: 1500, links: vec![link("air", &[], &["server"])], ..OpenSlots::default() };
    let id = host.send(HostOp::Open(bad));
    let HostResult::Error { message, .. } = host.receive(id) else { panic!() };
    assert_eq!(message, "links: air.far: 0 hosts; there can be 1 to 127".replace("far", "near"));
    open(&mut host, vec![link("air", &["client", "other"], &["server"])]);
    let idle = |host: &Host, link| host.trial("idle", link, vec![host.endpoint("client", &["true"])]);
    let radio = Some(RadioSpec { sleeps: vec![], buffer_bytes: 1 });
    let trial = idle(&host, LinkSpec { radio, ..LinkSpec::default() });
    assert_eq!(host.refusal(trial), "radio: it is that of one host, and the near side of air has 2");
    let backend = Some(wirelab_schema::LinkBackend::Netem);
    let trial = idle(&host, LinkSpec { backend, ..LinkSpec::default() });
    assert_eq!(host.refusal(trial), "backend: netem runs links between two hosts, and air has 3");
    let wire = LinkTrial { link: LinkSpec::default(), seed: 1, packet_log: None, rests: false };
    let mut trial = idle(&host, LinkSpec::default());
    trial.other_links.insert("wire".into(), wire);
    assert_eq!(host.refusal(trial), "other_links: unknown link `wire`; known: none");
    let mut trial = idle(&host, LinkSpec::default());
    trial.endpoints[0].host = "cloud".into();
    let result = host.run(trial);
    assert_eq!(result.error.as_deref(), Some("client: there is no host `cloud`"));
    // A refused trial leaves nothing behind: the slot works.
    let all = ImpairmentSpec::Loss(LossSpec { probability: 1.0, correlation: 0.0 });
    let result = host.run(idle(&host, LinkSpec { uplink: vec![all], ..LinkSpec::default() }));
    assert_eq!(result.status, TrialStatus::Done);
}

/// The agent as background traffic on a host.
fn traffic(host: &Host, name: &str, on: &str, words: &[&str]) -> EndpointProcess {
    let mut endpoint = host.endpoint(name, &[&["./wirelab-agent", "traffic"], words].concat());
    endpoint.host = on.into();
    endpoint.ready = Some(ReadyCondition::Event { timeout_ns: PATIENCE.as_nanos() as u64 });
    endpoint.ends_trial = false;
    endpoint
}

fn report(host: &Host, name: &str) -> TrafficReport {
    let text = fs::read_to_string(host.folder.path().join(format!("{name}.out"))).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn background_traffic_of_another_station_slows_the_client_and_says_what_it_carried() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    let facts = open(&mut host, vec![link("air", &["client", "other"], &["server"])]);
    let server = at(&facts, "air", "server");
    let medium = Some(MediumSpec::Serialiser(SerialiserSpec {
        rate_bps: 2_000_000,
        queue_bytes: Some(20_000),
        queue_packets: None,
        overhead_bytes: 0,
    }));
    let mut medians = Vec::new();
    for direction in [None, Some("upload"), Some("download")] {
        let mut endpoints = vec![process(host.server("udp_echo"), &host, "server", "server", &server)];
        if let Some(direction) = direction {
            let to = format!("{server}:5001");
            endpoints.push(traffic(&host, "sink", "server", &["bulk-server", "--at", &to]));
            let words = ["bulk", "--to", &to, "--flows", "3", "--direction", direction, "--stagger-ms", "100"];
            endpoints.push(traffic(&host, "bulk", "other", &words));
            let words = ["ping", "--to", &server, "--payload", "100", "--interval-us", "20000"];
            endpoints.push(traffic(&host, "ping", "other", &words));
        }
        endpoints.push(process(host.client("udp_pinger"), &host, "client", "client", &server));
        let name = direction.unwrap_or("alone");
        let result = host.run(host.trial(name, LinkSpec { medium: medium.clone(), ..LinkSpec::default() }, endpoints));
        assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
        result.link.directions.iter().for_each(assert_conserved);
        assert_replays(&host, name);
        let mut round_trips = host.printed("client", "round-trip");
        round_trips.sort_unstable();
        medians.push(round_trips[round_trips.len() / 2]);
        let Some(direction) = direction else { continue };
        let (sink, bulk, ping) = (report(&host, "sink"), report(&host, "bulk"), report(&host, "ping"));
        assert_eq!((sink.flows.len(), bulk.flows.len(), ping.flows.len()), (3, 3, 1));
        let receiver = if direction == "upload" { &sink } else { &bulk };
        assert!(receiver.flows.iter().all(|flow| flow.received_bytes > 0), "{receiver:?}");
        assert!(ping.flows[0].sent_bytes >= ping.flows[0].received_bytes, "{ping:?}");
        assert!(bulk.begin_ns < bulk.end_ns);
    }
    // Either way it is the same air.
    assert!(medians[0] < medians[1] && medians[0] < medians[2], "{medians:?}");
}

#[test]
fn pings_are_answered_over_both_families() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    let facts = host.open(1);
    let [link] = &facts.links[..] else { panic!("{facts:?}") };
    let mut families = vec![(None, link.far[0].ipv4.to_string())];
    families.extend(link.far[0].ipv6.map(|address| (Some(AddressFamily::Ipv6), address.to_string())));
    for (family, server) in families {
        let words = ["ping", "--to", &server, "--payload", "100", "--interval-us", "5000"];
        let endpoints = vec![traffic(&host, "ping", "client", &words), host.endpoint("client", &["sleep", "0.5"])];
        let result = host.run(host.trial("pings", LinkSpec { family, ..delay(Duration::from_millis(1)) }, endpoints));
        assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
        let flow = report(&host, "ping").flows.remove(0);
        assert!(flow.received_bytes >= 100 && flow.received_bytes.is_multiple_of(100), "{flow:?}");
        assert!(flow.received_bytes <= flow.sent_bytes);
    }
}
