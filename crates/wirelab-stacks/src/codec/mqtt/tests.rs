//! Dialogues with the broker in virtual time: clients say packets, and what the broker says to each is compared.

mod malformed;
mod pair;
mod publishing;
mod sessions;
mod time;

use std::sync::{Arc, Mutex};

use super::framer::Framer;
use super::packet::*;
use super::*;

const SECOND_NS: u64 = 1_000_000_000;

/// A broker at an instant.
struct Lab {
    broker: Broker,
    now_ns: u64,
}

/// A client's connection, played by hand.
struct Peer {
    id: ConnectionId,
    version: Version,
    framer: Framer,
}

impl Lab {
    fn new() -> Self {
        Lab::with(Limits::default(), Box::new(broker::Nobody))
    }

    fn with(limits: Limits, application: Box<dyn Application>) -> Self {
        Lab { broker: Broker::new(limits, application), now_ns: 0 }
    }

    fn open(&mut self, version: Version) -> Peer {
        Peer { id: self.broker.open(self.now_ns), version, framer: Framer::new(u32::MAX) }
    }

    /// A client that is connected, and whether the broker had its session.
    fn connect_as(&mut self, connect: Connect) -> (Peer, bool) {
        let mut peer = self.open(connect.version);
        self.say(&peer, Packet::Connect(Box::new(connect)));
        let connack = self.heard_one(&mut peer);
        let Packet::Connack(Connack { session_present, reason: Reason::SUCCESS, .. }) = connack else {
            panic!("{connack:?}")
        };
        (peer, session_present)
    }

    fn connect(&mut self, version: Version, client_id: &str) -> Peer {
        self.connect_as(connect(version, client_id)).0
    }

    fn say(&mut self, peer: &Peer, packet: Packet) {
        let bytes = packet.encode(peer.version).expect("a packet");
        self.say_bytes(peer, &bytes);
    }

    fn say_bytes(&mut self, peer: &Peer, bytes: &[u8]) {
        self.broker.receive(peer.id, bytes, self.now_ns);
    }

    /// Everything that the broker has said to a client since.
    fn heard(&mut self, peer: &mut Peer) -> Vec<Packet> {
        let mut packets = Vec::new();
        loop {
            let output = self.broker.take_output(peer.id, self.now_ns);
            if output.is_empty() {
                return packets;
            }
            let mut bytes = &output[..];
            while let Some(frame) = peer.framer.next(&mut bytes, 0).expect("packets") {
                packets.push(frame.decode(peer.version).expect("a packet"));
            }
        }
    }

    #[track_caller]
    fn heard_one(&mut self, peer: &mut Peer) -> Packet {
        let mut packets = self.heard(peer);
        assert_eq!(packets.len(), 1, "{packets:?}");
        packets.remove(0)
    }

    /// Topics and payloads of what a client was sent, whatever else was said.
    fn messages(&mut self, peer: &mut Peer) -> Vec<(String, String)> {
        let published = |packet| match packet {
            Packet::Publish(publish) => {
                let payload = String::from_utf8_lossy(&publish.message.payload).into_owned();
                Some((publish.message.topic.clone(), payload))
            }
            _ => None,
        };
        self.heard(peer).into_iter().filter_map(published).collect()
    }

    fn subscribe(&mut self, peer: &mut Peer, filter: &str, qos: Qos) -> Vec<Reason> {
        self.subscribe_with(peer, filter, SubscriptionOptions::new(qos), None)
    }

    fn subscribe_with(
        &mut self,
        peer: &mut Peer,
        filter: &str,
        options: SubscriptionOptions,
        identifier: Option<u32>,
    ) -> Vec<Reason> {
        self.say(peer, Packet::Subscribe(Subscribe { id: 7, filters: vec![(filter.to_owned(), options)], identifier }));
        let output = self.broker.take_output(peer.id, self.now_ns);
        let mut bytes = &output[..];
        let frame = peer.framer.next(&mut bytes, 0).expect("a packet").expect("whole");
        assert!(bytes.is_empty(), "use `heard` where retained messages follow");
        match frame.decode(peer.version).expect("a packet") {
            Packet::Suback(7, reasons) => reasons,
            other => panic!("{other:?}"),
        }
    }

    /// Lets time pass, with everything that falls due on the way.
    fn pass(&mut self, duration_ns: u64) {
        let end_ns = self.now_ns + duration_ns;
        while let Some(at_ns) = self.broker.poll_timeout().filter(|at_ns| *at_ns <= end_ns) {
            self.now_ns = self.now_ns.max(at_ns);
            self.broker.handle_timeout(self.now_ns);
        }
        self.now_ns = end_ns;
    }

    /// The connection breaks without a word.
    fn drop_peer(&mut self, peer: Peer) {
        self.broker.closed(peer.id, self.now_ns);
    }

    fn is_open(&self, peer: &Peer) -> bool {
        !self.broker.is_closing(peer.id)
    }
}

fn connect(version: Version, client_id: &str) -> Connect {
    Connect {
        version,
        client_id: client_id.to_owned(),
        clean_start: true,
        keep_alive_s: 0,
        session_expiry_s: 0,
        receive_maximum: u16::MAX,
        maximum_packet_size: None,
        authentication_method: false,
        will: None,
    }
}

/// A session that outlives its connection.
fn lasting(version: Version, client_id: &str) -> Connect {
    Connect { clean_start: false, session_expiry_s: 3_600, ..connect(version, client_id) }
}

fn publish(topic: &str, payload: &'static str, qos: Qos, id: u16) -> Publish {
    Publish {
        message: Message::new(topic, payload),
        qos,
        retain: false,
        dup: false,
        id,
        expiry_s: None,
        alias: None,
        subscriptions: Vec::new(),
    }
}

fn retained(topic: &str, payload: &'static str) -> Packet {
    Packet::Publish(Publish { retain: true, ..publish(topic, payload, Qos::AtMostOnce, 0) })
}

fn ack(kind: AckKind, id: u16) -> Packet {
    Packet::Ack(Ack { kind, id, reason: Reason::SUCCESS })
}

fn disconnect() -> Packet {
    Packet::Disconnect(Disconnect { reason: Reason::SUCCESS, session_expiry_s: None })
}

fn pair(topic: &str, payload: &str) -> (String, String) {
    (topic.to_owned(), payload.to_owned())
}

const BOTH: [Version; 2] = [Version::V311, Version::V5];
const EVERY_QOS: [Qos; 3] = [Qos::AtMostOnce, Qos::AtLeastOnce, Qos::ExactlyOnce];

/// An application that remembers what it was given, and refuses what says "wrong".
#[derive(Clone, Default)]
struct Remembering(Arc<Mutex<Vec<String>>>);

impl Application for Remembering {
    fn take(&mut self, client_id: &str, message: &Message) -> Taken {
        if message.topic != "app" {
            return Taken::NotMine;
        }
        let payload = String::from_utf8_lossy(&message.payload);
        self.0.lock().expect("unpoisoned").push(format!("{client_id}: {payload}"));
        if payload == "wrong" { Taken::Refused } else { Taken::Yes }
    }
}
