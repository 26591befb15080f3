//! Address translation in virtual time: its table of behaviour, and the requirements of RFC 4787, RFC 5382 and RFC 5508 by their numbers.

use std::collections::HashSet;
use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

use proptest::prelude::*;
use wirelab_link::impairment::{Dependence, Nat, NatSpec, SharedSpec, Unmapped};
use wirelab_link::spec::{LinkSpec, Place};
use wirelab_link::{
    Carries, Direction, DropCause, Ends, Flow, Impairment, Instant, Link, Packet, PortId, Seed, TcpFlags, Transport,
};

const MS: u64 = 1_000_000;
const CLIENT: &str = "10.77.0.1:5000";
const SERVER: &str = "10.77.0.2:443";
const OTHER_PORT: &str = "10.77.0.2:444";
const OTHER_ADDRESS: &str = "10.77.0.4:443";
const KINDS: [Dependence; 3] =
    [Dependence::EndpointIndependent, Dependence::AddressDependent, Dependence::AddressAndPortDependent];
const SYN: TcpFlags = TcpFlags { syn: true, fin: false, rst: false };
const FIN: TcpFlags = TcpFlags { syn: false, fin: true, rst: false };
const RST: TcpFlags = TcpFlags { syn: false, fin: false, rst: true };
const ACK: TcpFlags = TcpFlags { syn: false, fin: false, rst: false };

fn spec() -> NatSpec {
    NatSpec {
        mapping: Dependence::EndpointIndependent,
        filtering: Dependence::AddressDependent,
        udp_timeout_ns: 100 * MS,
        tcp_transitory_timeout_ns: 40 * MS,
        tcp_established_timeout_ns: 200 * MS,
        inbound_refresh: true,
        keep_port: false,
        ports: [20_000, 29_999],
        table_size: 1000,
        unmapped_segment: Unmapped::Drop,
    }
}

const fn seed(link: u64) -> Seed {
    Seed { link, direction: Direction::Uplink, index: u16::MAX - 2 }
}

/// What a packet met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    /// It left with this end in place of the client's.
    Passed(SocketAddr),
    Dropped,
    /// Dropped, and a reset came back.
    Reset,
}

/// A NAT, and the instant at which the next packet comes.
struct Watched {
    nat: Nat,
    now: Instant,
    sequence: u64,
}

impl Watched {
    fn new(spec: &NatSpec) -> Self {
        Self { nat: Nat::new(spec.rules(), seed(1)), now: Instant::default(), sequence: 0 }
    }

    fn wait(&mut self, milliseconds: u64) -> &mut Self {
        self.now = self.now + Duration::from_millis(milliseconds);
        self
    }

    fn send(&mut self, port: u16, transport: Transport, source: &str, destination: &str, carries: Carries) -> Met {
        let ends = Ends { source: source.parse().unwrap(), destination: destination.parse().unwrap(), carries };
        let flow = Flow { id: 0, transport };
        let packet =
            Packet { ends: Some(Box::new(ends)), ..Packet::new(self.sequence, PortId(port), 100, self.now, flow) };
        self.sequence += 1;
        self.nat.handle_packet(packet, self.now);
        let dropped = self.nat.poll_dropped();
        let left = self.nat.poll_packet(self.now);
        assert_eq!(self.nat.poll_packet(self.now), None);
        match (left, dropped) {
            (Some((_, packet)), None) => Met::Passed(*packet.translated.unwrap()),
            (None, Some(dropped)) => {
                assert_eq!(dropped.cause, DropCause::Nat);
                Met::Dropped
            }
            (Some((_, reset)), Some(dropped)) => {
                assert!(reset.originated && reset.port.direction() != dropped.packet.port.direction());
                assert_eq!((reset.sequence, reset.size), (dropped.packet.sequence, 40));
                Met::Reset
            }
            (None, None) => panic!("neither left nor dropped"),
        }
    }

    fn udp(&mut self, source: &str, destination: &str) -> Met {
        self.send(0, Transport::Udp, source, destination, Carries::Datagram)
    }

    fn udp_in(&mut self, source: &str, external: SocketAddr) -> Met {
        self.send(1, Transport::Udp, source, &external.to_string(), Carries::Datagram)
    }

    fn tcp(&mut self, flags: TcpFlags) -> Met {
        self.send(0, Transport::Tcp, CLIENT, SERVER, Carries::Segment(flags))
    }

    fn tcp_in(&mut self, external: SocketAddr, flags: TcpFlags) -> Met {
        self.send(1, Transport::Tcp, SERVER, &external.to_string(), Carries::Segment(flags))
    }

    /// The end that the client has outside after a datagram to the server.
    fn mapped(&mut self) -> SocketAddr {
        external(self.udp(CLIENT, SERVER))
    }

    /// An established connection, and the client's end of it.
    fn connected(&mut self) -> SocketAddr {
        let end = external(self.tcp(SYN));
        assert_eq!(self.tcp_in(end, SYN), Met::Passed(end_of(CLIENT)));
        assert_eq!(self.tcp(ACK), Met::Passed(end));
        end
    }

    /// The longest idle time in milliseconds after which the mapping that `begin` makes still lets a packet in.
    fn lasts(spec: &NatSpec, transport: Transport, begin: impl Fn(&mut Self) -> SocketAddr) -> u64 {
        let alive = |milliseconds: &u64| {
            let mut watched = Self::new(spec);
            let end = begin(&mut watched).to_string();
            let carries = if transport == Transport::Tcp { Carries::Segment(ACK) } else { Carries::Datagram };
            watched.wait(*milliseconds).send(1, transport, SERVER, &end, carries) == Met::Passed(end_of(CLIENT))
        };
        (0..300).take_while(alive).last().unwrap_or_default()
    }
}

fn end_of(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn external(met: Met) -> SocketAddr {
    let Met::Passed(end) = met else { panic!("{met:?}") };
    end
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// For each mapping and filtering, what shares the client's outer port and who may answer to it; then how long mappings last.
fn behaviour() -> String {
    let mut table =
        String::from("mapping filtering same-port:other-port,other-address lets-in:same,other-port,other-address\n");
    for mapping in KINDS {
        for filtering in KINDS {
            let spec = NatSpec { mapping, filtering, ..spec() };
            let shares = [OTHER_PORT, OTHER_ADDRESS].map(|remote| {
                let mut nat = Watched::new(&spec);
                nat.mapped() == external(nat.udp(CLIENT, remote))
            });
            let lets_in = [SERVER, OTHER_PORT, OTHER_ADDRESS].map(|remote| {
                let mut nat = Watched::new(&spec);
                let end = nat.mapped();
                nat.udp_in(remote, end) == Met::Passed(end_of(CLIENT))
            });
            let [kind, filter] =
                [mapping, filtering].map(|each| serde_json::to_string(&each).unwrap().replace('"', ""));
            writeln!(table, "{kind} {filter} {} {}", shares.map(yes).join(","), lets_in.map(yes).join(",")).unwrap();
        }
    }
    let closed = |nat: &mut Watched| {
        let end = nat.connected();
        nat.tcp(FIN);
        nat.tcp_in(end, FIN);
        nat.tcp(ACK);
        end
    };
    let half_closed = |nat: &mut Watched| {
        let end = nat.connected();
        nat.tcp(FIN);
        end
    };
    let broken = |nat: &mut Watched| {
        let end = nat.connected();
        nat.tcp_in(end, RST);
        end
    };
    let reopened = |nat: &mut Watched| {
        let end = nat.connected();
        nat.tcp(FIN);
        nat.tcp_in(end, FIN);
        assert_eq!(nat.connected(), end);
        end
    };
    let lasts = [
        ("udp", Watched::lasts(&spec(), Transport::Udp, Watched::mapped)),
        ("tcp, SYN alone", Watched::lasts(&spec(), Transport::Tcp, |nat| external(nat.tcp(SYN)))),
        ("tcp, established", Watched::lasts(&spec(), Transport::Tcp, Watched::connected)),
        ("tcp, one FIN", Watched::lasts(&spec(), Transport::Tcp, half_closed)),
        ("tcp, both FINs", Watched::lasts(&spec(), Transport::Tcp, closed)),
        ("tcp, reset", Watched::lasts(&spec(), Transport::Tcp, broken)),
        ("tcp, opened again", Watched::lasts(&spec(), Transport::Tcp, reopened)),
    ];
    lasts.iter().for_each(|(what, milliseconds)| writeln!(table, "{what}: {milliseconds} ms").unwrap());
    table
}

#[test]
fn the_table_of_behaviour_is_the_kept_one() {
    let kept = "\
mapping filtering same-port:other-port,other-address lets-in:same,other-port,other-address
endpoint-independent endpoint-independent yes,yes yes,yes,yes
endpoint-independent address-dependent yes,yes yes,yes,no
endpoint-independent address-and-port-dependent yes,yes yes,no,no
address-dependent endpoint-independent yes,no yes,yes,yes
address-dependent address-dependent yes,no yes,yes,no
address-dependent address-and-port-dependent yes,no yes,no,no
address-and-port-dependent endpoint-independent no,no yes,yes,yes
address-and-port-dependent address-dependent no,no yes,yes,no
address-and-port-dependent address-and-port-dependent no,no yes,no,no
udp: 99 ms
tcp, SYN alone: 39 ms
tcp, established: 199 ms
tcp, one FIN: 199 ms
tcp, both FINs: 39 ms
tcp, reset: 39 ms
tcp, opened again: 199 ms
";
    assert_eq!(behaviour(), kept);
}

#[test]
fn rfc4787_req1_a_mapping_is_reused_for_other_remote_ends() {
    let mut nat = Watched::new(&spec());
    let end = nat.mapped();
    assert_eq!((end.ip(), (20_000..30_000).contains(&end.port())), (end_of(CLIENT).ip(), true));
    assert_eq!([OTHER_PORT, OTHER_ADDRESS].map(|remote| nat.udp(CLIENT, remote)), [Met::Passed(end); 2]);
}

#[test]
fn rfc4787_req3_no_two_hosts_ports_have_one_outer_port() {
    let mut nat = Watched::new(&NatSpec { ports: [20_000, 20_099], ..spec() });
    let ends: HashSet<_> =
        (0..100).map(|port| external(nat.udp(&format!("10.77.0.1:{}", 5000 + port), SERVER))).collect();
    assert_eq!(ends.len(), 100);
    // No port is left until mappings end.
    assert_eq!(nat.udp("10.77.0.1:6000", SERVER), Met::Dropped);
    assert!(ends.contains(&external(nat.wait(100).udp("10.77.0.1:6000", SERVER))));
    // Another host has ports of its own, and so has TCP.
    assert!(matches!(nat.udp("10.77.0.3:5000", SERVER), Met::Passed(end) if end.ip() == end_of("10.77.0.3:0").ip()));
    assert!(matches!(nat.tcp(SYN), Met::Passed(_)));
}

#[test]
fn rfc4787_req3_ports_are_kept_while_they_are_free() {
    let mut nat = Watched::new(&NatSpec { keep_port: true, mapping: Dependence::AddressAndPortDependent, ..spec() });
    assert_eq!(nat.mapped(), end_of(CLIENT));
    assert_ne!(external(nat.udp(CLIENT, OTHER_PORT)), end_of(CLIENT));
    assert_eq!(nat.wait(100).mapped(), end_of(CLIENT));
}

#[test]
fn rfc4787_req5_after_its_time_the_next_mapping_has_another_port() {
    let mut nat = Watched::new(&spec());
    let first = nat.mapped();
    assert_eq!(nat.wait(99).mapped(), first);
    let second = nat.wait(100).mapped();
    assert_ne!(second, first);
    // What is sent to the first one is lost.
    assert_eq!(nat.udp_in(SERVER, first), Met::Dropped);
    assert_eq!(nat.udp_in(SERVER, second), Met::Passed(end_of(CLIENT)));
}

#[test]
fn rfc4787_req6_outbound_packets_refresh_and_inbound_ones_if_so_configured() {
    for (inbound_refresh, met) in [(true, Met::Passed(end_of(CLIENT))), (false, Met::Dropped)] {
        let mut nat = Watched::new(&NatSpec { inbound_refresh, ..spec() });
        let end = nat.mapped();
        assert_eq!(nat.wait(60).udp_in(SERVER, end), Met::Passed(end_of(CLIENT)));
        assert_eq!(nat.wait(60).udp_in(SERVER, end), met);
    }
    // What filtering keeps out refreshes nothing.
    let mut nat = Watched::new(&spec());
    let end = nat.mapped();
    assert_eq!(nat.wait(60).udp_in(OTHER_ADDRESS, end), Met::Dropped);
    assert_eq!(nat.wait(60).udp_in(SERVER, end), Met::Dropped);
}

#[test]
fn rfc4787_req11_the_same_packets_and_seed_give_the_same_ports() {
    let ports = |link| {
        let mut nat = Watched { nat: Nat::new(spec().rules(), seed(link)), ..Watched::new(&spec()) };
        (0..20).map(|_| nat.wait(100).mapped().port()).collect::<Vec<_>>()
    };
    assert_eq!(ports(1), ports(1));
    assert_ne!(ports(1), ports(2));
}

#[test]
fn rfc5382_req2_connections_open_in_any_valid_order() {
    // Both ends at the same time: the client's SYN made the mapping before the server's came.
    let mut nat = Watched::new(&spec());
    let end = external(nat.tcp(SYN));
    assert_eq!(nat.tcp_in(end, SYN), Met::Passed(end_of(CLIENT)));
    assert_eq!(nat.tcp(SYN), Met::Passed(end));
    assert_eq!(nat.wait(199).tcp(ACK), Met::Passed(end));
}

#[test]
fn rfc5382_req4_an_unsolicited_syn_from_outside_is_dropped_silently() {
    for unmapped_segment in [Unmapped::Drop, Unmapped::Reset] {
        let mut nat = Watched::new(&NatSpec { unmapped_segment, ..spec() });
        assert_eq!(nat.tcp_in(end_of("10.77.0.1:20000"), SYN), Met::Dropped);
    }
}

#[test]
fn rfc5382_req5_a_segment_after_the_time_out_is_dropped_or_reset_and_a_syn_has_another_port() {
    for (unmapped_segment, met) in [(Unmapped::Drop, Met::Dropped), (Unmapped::Reset, Met::Reset)] {
        let mut nat = Watched::new(&NatSpec { unmapped_segment, ..spec() });
        let end = nat.connected();
        assert_eq!(nat.wait(200).tcp(ACK), met);
        assert_eq!(nat.tcp_in(end, ACK), met);
        // Nobody answers a reset.
        assert_eq!((nat.tcp(RST), nat.tcp_in(end, RST)), (Met::Dropped, Met::Dropped));
        assert_ne!(external(nat.tcp(SYN)), end);
        let counters = nat.nat.counters();
        let resets = if met == Met::Reset { 2 } else { 0 };
        assert_eq!((counters.originated, counters.received + resets), (resets, counters.delivered + counters.dropped));
    }
}

#[test]
fn rfc5508_req4_errors_follow_the_packet_that_they_tell_of_and_refresh_nothing() {
    let mut nat = Watched::new(&spec());
    let end = nat.mapped();
    let error = |nat: &mut Watched, end: SocketAddr| {
        nat.send(1, Transport::Udp, OTHER_ADDRESS, &end.to_string(), Carries::Related)
    };
    // From a router that filtering would keep out.
    assert_eq!(error(&mut nat, end), Met::Passed(end_of(CLIENT)));
    assert_eq!(error(nat.wait(99), end), Met::Passed(end_of(CLIENT)));
    assert_eq!(error(nat.wait(1), end), Met::Dropped);
    // Of the client about what it received: it makes no mapping (REQ-5).
    assert_eq!(nat.send(0, Transport::Udp, CLIENT, SERVER, Carries::Related), Met::Dropped);
    let end = nat.mapped();
    assert_eq!(nat.send(0, Transport::Udp, CLIENT, SERVER, Carries::Related), Met::Passed(end));
}

#[test]
fn rfc5508_req1_echoes_pass_with_their_hosts_address() {
    let mut nat = Watched::new(&NatSpec { mapping: Dependence::AddressAndPortDependent, ..spec() });
    let echo = |nat: &mut Watched, to| nat.send(0, Transport::Other, "10.77.0.1:0", to, Carries::Datagram);
    let own = Met::Passed(end_of("10.77.0.1:0"));
    assert_eq!([echo(&mut nat, "10.77.0.2:0"), echo(&mut nat, "10.77.0.4:0")], [own; 2]);
    assert_eq!(nat.send(1, Transport::Other, "10.77.0.2:0", "10.77.0.1:0", Carries::Datagram), own);
}

#[test]
fn a_full_table_refuses_new_mappings_until_old_ones_end() {
    let mut nat = Watched::new(&NatSpec { table_size: 2, ..spec() });
    let [first, second, third] = [5000, 5001, 5002].map(|port| format!("10.77.0.1:{port}"));
    assert!(matches!((nat.udp(&first, SERVER), nat.udp(&second, SERVER)), (Met::Passed(_), Met::Passed(_))));
    assert_eq!(nat.wait(60).udp(&third, SERVER), Met::Dropped);
    assert!(matches!(nat.udp(&first, SERVER), Met::Passed(_)));
    assert!(matches!(nat.wait(40).udp(&third, SERVER), Met::Passed(_)));
}

#[test]
fn a_packet_without_ends_has_no_mapping() {
    let mut nat = Watched::new(&spec());
    nat.nat.handle_packet(Packet::new(0, PortId(0), 100, nat.now, Flow::default()), nat.now);
    assert_eq!(nat.nat.poll_dropped().map(|dropped| dropped.cause), Some(DropCause::Nat));
}

#[test]
fn a_description_that_lets_nothing_in_is_refused_with_its_key() {
    let refused = |spec: NatSpec| spec.build(seed(1), &Place::new("nat")).err().map(|error| error.to_string()).unwrap();
    assert_eq!(
        refused(NatSpec { udp_timeout_ns: 0, ..spec() }),
        "nat.udp_timeout_ns: a mapping that ends at once lets nothing in"
    );
    for ports in [[0, 10], [20, 10]] {
        let [first, last] = ports;
        let why = format!("nat.ports: {first} to {last} is no range of ports from 1 to 65535");
        assert_eq!(refused(NatSpec { ports, ..spec() }), why);
    }
}

/// A link of 10 ms each way with this NAT.
fn link(nat: NatSpec, seed: u64) -> Link {
    let delay = || vec![serde_json::from_value(serde_json::json!({"kind": "delay", "delay_ns": 10 * MS})).unwrap()];
    LinkSpec { uplink: delay(), downlink: delay(), nat: Some(nat), ..LinkSpec::default() }.build(seed).unwrap()
}

#[test]
fn a_reset_travels_to_its_client_as_any_packet() {
    let mut link = link(NatSpec { unmapped_segment: Unmapped::Reset, ..spec() }, 1);
    let ends = Ends { source: end_of(CLIENT), destination: end_of(SERVER), carries: Carries::Segment(ACK) };
    let flow = Flow { id: 0, transport: Transport::Tcp };
    let now = Instant::default();
    link.handle_packet(Packet { ends: Some(Box::new(ends)), ..Packet::new(7, PortId(0), 100, now, flow) }, now);
    let (departure, reset) = link.poll_packet(Instant::from_nanos(MS * 100)).unwrap();
    assert_eq!((departure.as_nanos(), reset.sequence, reset.originated), (20 * MS, 7, true));
    assert_eq!(reset.port.direction(), Direction::Downlink);
    let counters = link.counters();
    assert_eq!((counters.received, counters.originated, counters.delivered, counters.dropped), (1, 1, 1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// At every instant, whatever comes: received + originated = delivered + dropped + held.
    #[test]
    fn packets_are_conserved_with_resets(
        packets in prop::collection::vec((0..60u64, 0..2u16, 0..3u16, 0..6u8), 0..80),
        mapping in 0..3usize,
        size in 1..4u32,
        seed in any::<u64>(),
    ) {
        let rules = NatSpec {
            mapping: KINDS[mapping], table_size: size, unmapped_segment: Unmapped::Reset, keep_port: seed % 2 == 0, ..spec()
        };
        let mut link = link(rules, seed);
        let (mut now, mut received, mut delivered) = (Instant::default(), 0, 0);
        let mut ends_outside = end_of(CLIENT);
        for (sequence, (gap, port, client, what)) in (0..).zip(packets) {
            now = now + Duration::from_millis(gap);
            while let Some((_, packet)) = link.poll_packet(now) {
                delivered += 1;
                ends_outside = packet.translated.as_deref().copied().filter(|_| packet.port == PortId(0)).unwrap_or(ends_outside);
            }
            let (inside, outside) = (SocketAddr::new(end_of(CLIENT).ip(), 5000 + client), end_of(SERVER));
            let (source, destination) = if port == 0 { (inside, outside) } else { (outside, ends_outside) };
            let flags = [ACK, SYN, FIN, RST, ACK, SYN][usize::from(what)];
            let (transport, carries) =
                if what == 4 { (Transport::Udp, Carries::Datagram) } else { (Transport::Tcp, Carries::Segment(flags)) };
            let ends = Some(Ends { source, destination, carries });
            let flow = Flow { id: 0, transport };
            link.handle_packet(Packet { ends: ends.map(Box::new), ..Packet::new(sequence, PortId(port), 100, now, flow) }, now);
            received += 1;
            let counters = link.counters();
            prop_assert_eq!((counters.received, counters.delivered), (received, delivered));
            prop_assert_eq!(counters.received + counters.originated, counters.delivered + counters.dropped + counters.held);
        }
    }
}
