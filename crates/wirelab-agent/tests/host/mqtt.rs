//! What MQTT's qualities of service promise, over a link that loses a fifth of all packets and connections that break.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use wirelab_net::topology::IPV4;
use wirelab_schema::{ImpairmentSpec, LinkSpec, LossSpec, ReadyCondition, TrialStatus};
use wirelab_stacks::codec::mqtt::client::{Client, Event, Options};
use wirelab_stacks::codec::mqtt::{Message, Qos, Version};

use crate::machine::{PATIENCE, namespaces_work};
use crate::support::{Host, delay};

const PORT: u16 = 1883;
/// Publishers, and as many subscribers, each of the messages of one publisher.
const PAIRS: u32 = 25;
const MESSAGES: u32 = 400;
/// Variable that tells quality of service and version.
const PROOF: &str = "WIRELAB_TEST_MQTT";
/// A client breaks its connection after so many messages, then a few more the next time.
const BREAK_AFTER: u32 = 100;
/// How long a subscriber that has everything waits for what should not come.
const LINGER: Duration = Duration::from_secs(2);
/// A client gives a silent connection up, as keep-alive would make it: TCP's timers double, and so does the wait for the next repetition.
const SILENCE: Duration = Duration::from_secs(3);
/// The whole must be done by then.
const LIMIT: Duration = Duration::from_secs(55);

#[test]
fn qos_2_delivers_each_of_10_000_messages_once_over_20_percent_loss_and_forced_disconnects() {
    if namespaces_work() {
        let copies = prove("2 5");
        assert_eq!((copies.first(), copies.last()), (Some(&1), Some(&1)));
    }
}

#[test]
fn qos_1_delivers_each_of_10_000_messages_at_least_once_over_20_percent_loss_and_forced_disconnects() {
    if namespaces_work() {
        let copies = prove("1 3.1.1");
        assert_eq!(copies.first(), Some(&1), "of most messages one copy suffices");
    }
}

/// How many copies of each message came, fewest first.
fn prove(proof: &str) -> Vec<u64> {
    let mut host = Host::start();
    host.open(1);
    let broker = json!({
        "schema_version": wirelab_schema::SCHEMA_VERSION, "protocol": "mqtt", "role": "server",
        "server": {"address": IPV4.server, "port": PORT, "name": "server.test"}, "settings": {},
        "workload": {"kind": "pubsub", "message_bytes": 12, "messages": 1, "timeout_ns": 1, "arrival": {"process": "fixed", "rate_hz": 1.0}},
        "certificates": null, "output": host.folder.path(), "seed": 1,
    });
    fs::write(host.folder.path().join("broker.json"), broker.to_string()).unwrap();
    let mut server = host.endpoint("server", &["./wirelab-agent", "endpoint", "broker.json"]);
    server.ready = Some(ReadyCondition::Event { timeout_ns: PATIENCE.as_nanos() as u64 });
    server.ends_trial = false;
    let mut clients = host.endpoint("client", &["./endpoint", "mqtt::clients", "--exact", "--nocapture", "--ignored"]);
    clients.environment.insert(PROOF.into(), proof.into());
    let loss = ImpairmentSpec::Loss(LossSpec { probability: 0.2, correlation: 0.0 });
    let mut link: LinkSpec = delay(Duration::from_millis(1));
    link.uplink.push(loss.clone());
    link.downlink.push(loss);
    let mut trial = host.trial("proof", link, vec![server, clients]);
    trial.timeout_ns = (LIMIT + PATIENCE).as_nanos() as u64;
    let result = host.run(trial);
    let words = fs::read_to_string(host.folder.path().join("client.err")).unwrap_or_default();
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{words}");
    for direction in &result.link.directions {
        let dropped: u64 = direction.dropped.iter().map(|drop| drop.packets).sum();
        let share = dropped as f64 / direction.received as f64;
        assert!(direction.received > 1_000 && (0.15..0.25).contains(&share), "{dropped} of {}", direction.received);
    }
    let [broken, again] = ["broken", "again"].map(|key| host.printed("client", key)[0]);
    assert!(broken >= u64::from(PAIRS) && again > 0, "{broken} connections broke, {again} messages were retransmitted");
    let mut copies = host.printed("client", "copies");
    copies.sort_unstable();
    assert_eq!(copies.len(), (PAIRS * MESSAGES) as usize);
    let (most, total) = (copies.last().unwrap(), copies.iter().sum::<u64>());
    println!(
        "{proof}: {total} copies, {most} of one at most; {broken} connections broken, {again} messages retransmitted"
    );
    copies
}

/// All publishers and subscribers. Prints how many copies of each message came.
#[test]
#[ignore = "an endpoint of other tests"]
fn clients() {
    let proof = std::env::var(PROOF).unwrap();
    let (qos, version) = match proof.as_str() {
        "2 5" => (Qos::ExactlyOnce, Version::V5),
        "1 3.1.1" => (Qos::AtLeastOnce, Version::V311),
        other => panic!("{other}"),
    };
    let subscribed = &Barrier::new(2 * PAIRS as usize);
    let deadline = Instant::now() + LIMIT;
    thread::scope(|scope| {
        let subscribers: Vec<_> = (0..PAIRS)
            .map(|pair| scope.spawn(move || subscribe(End::new("s", pair, version, deadline), pair, qos, subscribed)))
            .collect();
        let publishers: Vec<_> = (0..PAIRS)
            .map(|pair| scope.spawn(move || publish(End::new("p", pair, version, deadline), pair, qos, subscribed)))
            .collect();
        let (mut broken, mut again) = (0, 0);
        println!();
        for publisher in publishers {
            let end = publisher.join().unwrap();
            (broken, again) = (broken + end.broken, again + end.again);
        }
        for subscriber in subscribers {
            let (copies, end) = subscriber.join().unwrap();
            broken += end.broken;
            copies.iter().for_each(|copies| println!("copies {copies}"));
        }
        println!("broken {broken}\nagain {again}");
    });
}

fn publish(mut end: End, pair: u32, qos: Qos, subscribed: &Barrier) -> End {
    subscribed.wait();
    let topic = format!("proof/{pair}");
    let tickets: Vec<u64> = (0..MESSAGES)
        .map(|number| end.client.publish(Message::new(&*topic, number.to_be_bytes().to_vec()), qos, false, 0))
        .collect();
    let (mut acknowledged, mut sent) = (0, vec![0; tickets.len()]);
    while acknowledged < MESSAGES {
        for event in end.step() {
            match event {
                Event::Acknowledged { reason, .. } => {
                    assert!(!reason.is_failure(), "{reason}");
                    acknowledged += 1;
                    end.count_to_break();
                }
                // Between PUBREC and PUBCOMP too: the retransmission is then PUBREL.
                Event::Received { .. } => end.count_to_break(),
                Event::Sent { ticket, whole: true, .. } => {
                    let place = tickets.iter().position(|known| *known == ticket).unwrap();
                    end.again += u32::from(sent[place] > 0);
                    sent[place] += 1;
                }
                Event::Lost { .. } => panic!("the broker forgot the session"),
                _ => {}
            }
        }
    }
    end
}

fn subscribe(mut end: End, pair: u32, qos: Qos, subscribed: &Barrier) -> (Vec<u32>, End) {
    let mut copies = vec![0; MESSAGES as usize];
    let (mut waiting, mut missing, mut complete) = (true, MESSAGES, None);
    while complete.is_none_or(|at: Instant| at.elapsed() < LINGER) {
        for event in end.step() {
            match event {
                // Asked for again until it is confirmed: the connection may have been lost in between.
                Event::Connected { .. } if waiting => end.client.subscribe(&format!("proof/{pair}"), qos, 0),
                Event::Subscribed(reasons) => {
                    assert!(!reasons[0].is_failure());
                    if std::mem::take(&mut waiting) {
                        subscribed.wait();
                    }
                }
                Event::Message { message, .. } => {
                    let number = u32::from_be_bytes(message.payload[..].try_into().unwrap()) as usize;
                    missing -= u32::from(copies[number] == 0);
                    copies[number] += 1;
                    complete = (missing == 0).then(Instant::now);
                    end.count_to_break();
                }
                _ => {}
            }
        }
    }
    (copies, end)
}

/// A client, and its connection if it has one.
struct End {
    client: Client,
    stream: Option<TcpStream>,
    heard: Instant,
    deadline: Instant,
    until_break: u32,
    broken: u32,
    again: u32,
}

impl End {
    fn new(letter: &str, pair: u32, version: Version, deadline: Instant) -> Self {
        let client = Client::new(Options {
            version,
            client_id: format!("{letter}{pair}"),
            clean_start: false,
            session_expiry_s: 3_600,
            keep_alive_s: 0,
            receive_maximum: 100,
            maximum_packet_size: 1_000,
        });
        End {
            client,
            stream: None,
            heard: Instant::now(),
            deadline,
            until_break: BREAK_AFTER + pair,
            broken: 0,
            again: 0,
        }
    }

    fn count_to_break(&mut self) {
        self.until_break = self.until_break.saturating_sub(1);
    }

    /// Carries what is there, over a new connection if the last one has gone; what happened then.
    fn step(&mut self) -> Vec<Event> {
        assert!(Instant::now() < self.deadline, "not done in {LIMIT:?}");
        if self.until_break == 0 {
            // Without a word, and with whatever is on its way.
            self.until_break = BREAK_AFTER + 13 * self.broken;
            self.broken += 1;
            self.stream = None;
            self.client.closed();
        }
        if self.stream.is_none() {
            let Ok(stream) = TcpStream::connect_timeout(&(IPV4.server, PORT).into(), Duration::from_secs(5)) else {
                return Vec::new();
            };
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
            (self.stream, self.heard) = (Some(stream), Instant::now());
            self.client.connect(0);
        }
        if self.carry().is_err() || self.client.has_ended() {
            self.stream = None;
            self.client.closed();
        }
        std::iter::from_fn(|| self.client.poll_event()).collect()
    }

    fn carry(&mut self) -> std::io::Result<()> {
        let mut stream = self.stream.as_ref().expect("connected");
        let output = self.client.take_output();
        stream.write_all(&output)?;
        self.client.written(output.len());
        let mut buffer = [0; 16_384];
        match stream.read(&mut buffer) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.client.receive(&buffer[..length], 0);
                self.heard = Instant::now();
                Ok(())
            }
            Err(error) if self.heard.elapsed() > SILENCE => Err(error),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
