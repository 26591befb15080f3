//! Clients and the broker, over connections that lose what is in them.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::*;
use crate::codec::mqtt::client::{Client, Event, Options};

fn options(version: Version, client_id: &str) -> Options {
    Options {
        version,
        client_id: client_id.to_owned(),
        clean_start: false,
        session_expiry_s: 3_600,
        keep_alive_s: 0,
        receive_maximum: 20,
        maximum_packet_size: 1_000,
    }
}

/// A client and its connection, if it has one.
struct End {
    client: Client,
    id: Option<ConnectionId>,
    events: Vec<Event>,
}

impl End {
    fn new(options: Options) -> Self {
        End { client: Client::new(options), id: None, events: Vec::new() }
    }

    fn connect(&mut self, lab: &mut Lab) {
        self.id = Some(lab.broker.open(lab.now_ns));
        self.client.connect(lab.now_ns);
    }

    /// Carries bytes both ways once; each direction's are lost, with the connection, if `breaks` says so.
    fn exchange(&mut self, lab: &mut Lab, mut breaks: impl FnMut() -> bool) {
        let Some(id) = self.id else { return self.connect(lab) };
        let output = self.client.take_output();
        self.client.written(output.len());
        let mut broken = breaks();
        if !broken {
            lab.broker.receive(id, &output, lab.now_ns);
            let input = lab.broker.take_output(id, lab.now_ns);
            broken = breaks();
            if !broken {
                self.client.receive(&input, lab.now_ns);
            }
        }
        if broken {
            self.client.closed();
            lab.broker.closed(id, lab.now_ns);
            self.id = None;
        }
        while let Some(event) = self.client.poll_event() {
            self.events.push(event);
        }
    }

    fn subscribe(&mut self, lab: &mut Lab, filter: &str, qos: Qos) {
        self.connect(lab);
        self.exchange(lab, || false);
        self.client.subscribe(filter, qos, lab.now_ns);
        self.exchange(lab, || false);
    }
}

/// How often each message came, published over connections that break once in `one_in` transfers.
fn deliveries(version: Version, qos: Qos, messages: u32, one_in: u32) -> BTreeMap<String, u32> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut breaks = move || random.next_u32().is_multiple_of(one_in);
    let mut lab = Lab::new();
    let mut subscriber = End::new(options(version, "s"));
    subscriber.subscribe(&mut lab, "t", qos);
    let mut publisher = End::new(options(version, "p"));
    publisher.connect(&mut lab);
    publisher.exchange(&mut lab, || false);
    let (mut next, mut done) = (0, 0);
    let mut came = BTreeMap::new();
    for _ in 0..messages * 100 {
        if next < messages {
            publisher.client.publish(Message::new("t", next.to_string()), qos, false, lab.now_ns);
            next += 1;
        }
        publisher.exchange(&mut lab, &mut breaks);
        subscriber.exchange(&mut lab, &mut breaks);
        for event in publisher.events.drain(..).chain(subscriber.events.drain(..)) {
            match event {
                Event::Acknowledged { reason, .. } => {
                    assert!(!reason.is_failure());
                    done += 1;
                }
                Event::Message { message, .. } => {
                    *came.entry(String::from_utf8_lossy(&message.payload).into_owned()).or_insert(0) += 1;
                }
                Event::Lost { .. } | Event::Ended(_) => panic!("{event:?}"),
                _ => {}
            }
        }
        if done == messages && came.len() == messages as usize && subscriber.id.is_some() {
            break;
        }
    }
    // Whatever is still under way comes to rest.
    for _ in 0..10 {
        subscriber.exchange(&mut lab, || false);
    }
    came
}

#[test]
fn over_connections_that_break_qos_2_delivers_once_and_qos_1_at_least_once() {
    for version in BOTH {
        let exactly = deliveries(version, Qos::ExactlyOnce, 1_000, 6);
        assert_eq!(exactly.len(), 1_000);
        assert!(exactly.values().all(|copies| *copies == 1), "{exactly:?}");
        let at_least = deliveries(version, Qos::AtLeastOnce, 1_000, 6);
        assert_eq!(at_least.len(), 1_000);
        assert!(at_least.values().any(|copies| *copies > 1), "else the connections never broke where it matters");
    }
}

#[test]
fn a_client_pings_when_it_has_been_silent_and_gives_a_mute_server_up() {
    let mut lab = Lab::new();
    let mut end = End::new(Options { keep_alive_s: 10, ..options(Version::V5, "c") });
    end.connect(&mut lab);
    end.exchange(&mut lab, || false);
    assert_eq!(end.client.poll_timeout(), Some(10 * SECOND_NS));
    lab.now_ns = 10 * SECOND_NS;
    end.client.handle_timeout(lab.now_ns);
    end.exchange(&mut lab, || false);
    assert_eq!(end.client.poll_timeout(), Some(20 * SECOND_NS), "the answer came");
    for at_s in [20, 30] {
        end.client.handle_timeout(at_s * SECOND_NS);
    }
    assert_eq!(end.client.poll_event(), Some(Event::Ended(Reason::KEEP_ALIVE)));
    assert!(end.client.has_ended());
}

#[test]
fn a_client_learns_how_much_of_its_message_the_transport_has() {
    let mut lab = Lab::new();
    let mut end = End::new(options(Version::V311, "c"));
    end.connect(&mut lab);
    end.exchange(&mut lab, || false);
    end.events.clear();
    let ticket = end.client.publish(Message::new("t", "12345"), Qos::AtMostOnce, false, 0);
    let output = end.client.take_output();
    for part in [2, 5, output.len() - 7] {
        end.client.written(part);
    }
    let told: Vec<Event> = std::iter::from_fn(|| end.client.poll_event()).collect();
    let sent = |payload_bytes, whole| Event::Sent { ticket, payload_bytes, whole };
    assert_eq!(told, [sent(0, false), sent(2, false), sent(5, true)]);
}

#[test]
fn a_server_that_forgot_the_session_has_the_client_say_which_messages_are_lost() {
    let mut lab = Lab::new();
    let mut end = End::new(options(Version::V5, "c"));
    end.connect(&mut lab);
    end.exchange(&mut lab, || false);
    let ticket = end.client.publish(Message::new("t", "x"), Qos::ExactlyOnce, false, 0);
    end.exchange(&mut lab, || true);
    lab.pass(4_000 * SECOND_NS);
    end.events.clear();
    end.connect(&mut lab);
    end.exchange(&mut lab, || false);
    assert_eq!(end.events, [Event::Lost { ticket }, Event::Connected { session_present: false }]);
}

#[test]
fn a_client_ends_the_connection_of_a_server_that_breaks_the_rules() {
    for (bytes, reason) in [
        (&[0x20, 0x03, 0x00, 0x00, 0x00, 0x20, 0x03, 0x00, 0x00, 0x00][..], Reason::PROTOCOL_ERROR),
        (&[0x20, 0x03, 0x00, 0x00, 0x00, 0x90, 0x04, 0x00, 0x01, 0x00, 0x00], Reason::PROTOCOL_ERROR),
        (&[0x30, 0x00], Reason::MALFORMED),
        (&[0x20, 0x03, 0x00, 0x87, 0x00], Reason(0x87)),
    ] {
        let mut client = Client::new(options(Version::V5, "c"));
        client.connect(0);
        client.receive(bytes, 0);
        let told: Vec<Event> = std::iter::from_fn(|| client.poll_event()).collect();
        assert_eq!(told.last(), Some(&Event::Ended(reason)), "{bytes:?}");
        assert!(client.has_ended());
    }
}
