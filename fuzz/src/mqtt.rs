//! Bytes from clients to the MQTT broker, cut and timed in any way: whatever they say, another client is served as before, what the broker answers is
//! a sequence of packets, and nothing that it waits for is overdue. The same bytes as a server's answer end our client or leave it alone.

use arbitrary::{Result, Unstructured};
use wirelab_stacks::codec::mqtt::client::{Client, Event, Options};
use wirelab_stacks::codec::mqtt::packet::{
    Ack, AckKind, Connect, Disconnect, Packet, Publish, Subscribe, SubscriptionOptions, Will,
};
use wirelab_stacks::codec::mqtt::{Broker, ConnectionId, Limits, Message, Qos, Reason, Version, broker};

/// Maximum number of concurrent clients.
const MAX_CLIENTS: u8 = 3;
/// Pieces of one input, at most.
const MAX_PIECES: usize = 64;
const VERSIONS: [Version; 2] = [Version::V311, Version::V5];

/// The bytes are pieces, each with what is to be done with it.
pub fn check(bytes: &[u8]) {
    // What is too short for its choices has ended.
    let _ = try_check(&mut Unstructured::new(bytes));
    for version in VERSIONS {
        answer(version, bytes);
    }
}

/// Dialogues of one client and of two, in both versions.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for version in VERSIONS {
        let packets: Vec<Vec<u8>> = packets(version).iter().map(|packet| packet.encode(version).unwrap()).collect();
        seeds.push(pieces(&[(0, &packets.concat())]));
        let one_by_one: Vec<(u8, &[u8])> = packets.iter().map(|packet| (0, &packet[..])).collect();
        seeds.push(pieces(&one_by_one));
        let by_two: Vec<(u8, &[u8])> = packets.iter().flat_map(|packet| [(0, &packet[..]), (1, &packet[..])]).collect();
        seeds.push(pieces(&by_two));
        // CONNECT, a break, and all again: what a session keeps.
        let broken: Vec<(u8, &[u8])> = packets
            .iter()
            .chain(&packets)
            .enumerate()
            .map(|(at, packet)| (u8::from(at == 6) * 4, &packet[..]))
            .collect();
        seeds.push(pieces(&broken));
        // As a server says them, for the client.
        let answers = [&[0x20, 0x02, 0x01, 0x00][..], &[0x20, 0x03, 0x01, 0x00, 0x00]]
            [VERSIONS.iter().position(|known| *known == version).unwrap()];
        seeds.push([answers, &packets[2], &packets[4], &packets[5]].concat());
    }
    seeds
}

/// One of each that a client says.
fn packets(version: Version) -> Vec<Packet> {
    let message = Message::new("a/b", "payload");
    let will = Will { message: message.clone(), qos: Qos::AtLeastOnce, retain: true, delay_s: 1, expiry_s: Some(9) };
    let connect = Connect {
        version,
        client_id: "c".to_owned(),
        clean_start: false,
        keep_alive_s: 10,
        session_expiry_s: 20,
        receive_maximum: 2,
        maximum_packet_size: Some(200),
        authentication_method: false,
        will: Some(will),
    };
    let publish = |qos, id, retain| {
        Packet::Publish(Publish {
            message: message.clone(),
            qos,
            retain,
            dup: false,
            id,
            expiry_s: Some(5),
            alias: None,
            subscriptions: vec![],
        })
    };
    let ack = |kind| Packet::Ack(Ack { kind, id: 1, reason: Reason::SUCCESS });
    let filters = ["a/+", "#"].map(|filter| (filter.to_owned(), SubscriptionOptions::new(Qos::ExactlyOnce)));
    vec![
        Packet::Connect(Box::new(connect)),
        Packet::Subscribe(Subscribe { id: 1, filters: filters.into(), identifier: Some(7) }),
        publish(Qos::AtMostOnce, 0, true),
        publish(Qos::AtLeastOnce, 2, false),
        publish(Qos::ExactlyOnce, 3, false),
        Packet::Ack(Ack { kind: AckKind::Pubrel, id: 3, reason: Reason::SUCCESS }),
        ack(AckKind::Puback),
        ack(AckKind::Pubrec),
        ack(AckKind::Pubcomp),
        Packet::Unsubscribe(4, vec!["#".to_owned()]),
        Packet::Pingreq,
        Packet::Disconnect(Disconnect { reason: Reason::SUCCESS, session_expiry_s: None }),
    ]
}

/// In the order in which [`try_check`] takes them: the client and what is done, the time that passes, the length, the bytes.
fn pieces(pieces: &[(u8, &[u8])]) -> Vec<u8> {
    let piece = |(choice, bytes): &(u8, &[u8])| {
        let length = (bytes.len() as u16).to_le_bytes();
        [&[*choice, 1][..], &length, bytes].concat()
    };
    pieces.iter().flat_map(piece).collect()
}

fn try_check(input: &mut Unstructured<'_>) -> Result<()> {
    let limits = Limits {
        maximum_packet_size: 4_096,
        receive_maximum: 4,
        queued_messages: 16,
        backlog_bytes: 8_192,
        retained_topics: 8,
        ..Limits::default()
    };
    let mut lab = Lab { broker: Broker::new(limits, Box::new(broker::Nobody)), now_ns: 0 };
    let mut witness = Witness::new(&mut lab);
    let mut clients: Vec<Option<ConnectionId>> = vec![None; MAX_CLIENTS.into()];
    for _ in 0..MAX_PIECES {
        if input.is_empty() {
            break;
        }
        let choice = input.arbitrary::<u8>()?;
        lab.pass(u64::from(input.arbitrary::<u8>()?).pow(2) * 100_000_000);
        let client = &mut clients[usize::from(choice % MAX_CLIENTS)];
        if choice & 4 != 0
            && let Some(id) = client.take()
        {
            lab.broker.closed(id, lab.now_ns);
        }
        let id = *client.get_or_insert_with(|| lab.broker.open(lab.now_ns));
        let length = usize::from(input.arbitrary::<u16>()?).min(input.len());
        lab.broker.receive(id, input.bytes(length)?, lab.now_ns);
        // Who does not read has the broker keep what it says, for a while.
        if choice & 8 == 0 {
            assert_packets(&lab.output(id));
            if lab.broker.is_closing(id) {
                lab.broker.closed(id, lab.now_ns);
                *client = None;
            }
        }
        witness.is_served(&mut lab);
    }
    lab.pass(u64::from(u32::MAX) * 2_000_000_000);
    Ok(())
}

struct Lab {
    broker: Broker,
    now_ns: u64,
}

impl Lab {
    fn pass(&mut self, duration_ns: u64) {
        let end_ns = self.now_ns + duration_ns;
        while let Some(at_ns) = self.broker.poll_timeout().filter(|at_ns| *at_ns <= end_ns) {
            self.now_ns = self.now_ns.max(at_ns);
            self.broker.handle_timeout(self.now_ns);
            assert!(self.broker.poll_timeout().is_none_or(|at_ns| at_ns > self.now_ns), "still due");
        }
        self.now_ns = end_ns;
        while self.broker.poll_woken().is_some() {}
    }

    fn output(&mut self, id: ConnectionId) -> Vec<u8> {
        let mut output = Vec::new();
        loop {
            let more = self.broker.take_output(id, self.now_ns);
            if more.is_empty() {
                return output;
            }
            output.extend(more);
        }
    }
}

/// A client that does nothing wrong, and hears its own messages.
struct Witness {
    client: Client,
    id: ConnectionId,
}

impl Witness {
    fn new(lab: &mut Lab) -> Self {
        let mut witness =
            Witness { client: Client::new(options(Version::V5, "witness")), id: lab.broker.open(lab.now_ns) };
        witness.client.connect(lab.now_ns);
        witness.carry(lab);
        witness.client.subscribe("$witness", Qos::ExactlyOnce, lab.now_ns);
        witness.carry(lab);
        witness
    }

    fn is_served(&mut self, lab: &mut Lab) {
        // A client of the same name may have taken its session over: that is what it may do.
        if lab.broker.is_closing(self.id) {
            lab.broker.closed(self.id, lab.now_ns);
            *self = Witness::new(lab);
        }
        let ticket = self.client.publish(Message::new("$witness", "x"), Qos::ExactlyOnce, false, lab.now_ns);
        let events = self.carry(lab);
        let heard = |wanted: &dyn Fn(&Event) -> bool| events.iter().any(wanted);
        assert!(heard(&|event| matches!(event, Event::Acknowledged { ticket: of, .. } if *of == ticket)), "{events:?}");
        assert!(
            heard(&|event| matches!(event, Event::Message { message, .. } if message.payload == "x")),
            "{events:?}"
        );
    }

    fn carry(&mut self, lab: &mut Lab) -> Vec<Event> {
        loop {
            let said = self.client.take_output();
            self.client.written(said.len());
            lab.broker.receive(self.id, &said, lab.now_ns);
            let answer = lab.output(self.id);
            self.client.receive(&answer, lab.now_ns);
            if said.is_empty() && answer.is_empty() {
                return std::iter::from_fn(|| self.client.poll_event()).collect();
            }
        }
    }
}

fn options(version: Version, client_id: &str) -> Options {
    Options {
        version,
        client_id: client_id.to_owned(),
        clean_start: true,
        session_expiry_s: 0,
        keep_alive_s: 0,
        receive_maximum: 4,
        maximum_packet_size: 65_536,
    }
}

/// Fixed headers and lengths (section 2.1) that end where the bytes do.
fn assert_packets(mut bytes: &[u8]) {
    while let Some((header, rest)) = bytes.split_first() {
        assert!(header >> 4 != 0, "reserved packet type");
        let size = rest.iter().position(|byte| byte & 0x80 == 0).expect("a length that ends") + 1;
        let length = (0..size).fold(0, |length, at| length | usize::from(rest[at] & 0x7f) << (7 * at));
        bytes = rest.get(size + length..).expect("the whole packet");
    }
}

/// A client with something under way, whose server says these bytes.
fn answer(version: Version, bytes: &[u8]) {
    let mut client =
        Client::new(Options { clean_start: false, session_expiry_s: 9, keep_alive_s: 1, ..options(version, "c") });
    for _ in 0..2 {
        client.connect(0);
        client.subscribe("#", Qos::ExactlyOnce, 0);
        let tickets: Vec<u64> = [Qos::AtMostOnce, Qos::AtLeastOnce, Qos::ExactlyOnce]
            .map(|qos| client.publish(Message::new("t", "x"), qos, false, 0))
            .into();
        client.receive(bytes, 0);
        let output = client.take_output();
        assert_packets(&output);
        client.written(output.len());
        for at_ns in [1, 2, 3].map(|second| second * 1_000_000_000) {
            client.handle_timeout(at_ns);
        }
        let ends = std::iter::from_fn(|| client.poll_event()).filter(|event| matches!(event, Event::Ended(_))).count();
        assert!(ends <= 1 && tickets.is_sorted());
        client.closed();
    }
}
