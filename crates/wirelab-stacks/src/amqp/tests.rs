//! Dialogues of our client, of the library's links, and of raw bytes with the built-in queue, in virtual time over a path of 50 ms.

mod path;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use fe2o3_amqp::link::receiver::CreditMode;
use fe2o3_amqp::types::definitions::ReceiverSettleMode;
use fe2o3_amqp::types::messaging::{Data, DistributionMode, Header, Message, Source};
use fe2o3_amqp::types::primitives::Binary;
use fe2o3_amqp::{Delivery as Received, Receiver, Sender};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::{Duration, Instant, sleep, timeout};
use wirelab_schema::Outcome;

use self::path::{Path, RTT};
use super::client::{Connection, attach_sender};
use super::connection::{Opened, open};
use super::message::{bytes_before, into_bytes, of_bytes};
use super::options::{Delivery, Options, USER};
use super::stamps::AmqpStamps;
use super::*;
use crate::Payload;
use crate::base::attempt::{Attempt, ExchangeError};
use crate::workload::virtual_time::VirtualClock;

const READING: &[u8] = b"21.5 degrees";

fn options(settings: &[(&str, serde_json::Value)]) -> Options {
    let given = settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Options::new(&Settings::resolve(&AMQP.descriptor(), &given).expect("settings"))
}

fn server(settings: &[(&str, serde_json::Value)]) -> Arc<Server> {
    let reading = Some(Reading { topic: None, body: Bytes::from_static(READING) });
    Arc::new(Server {
        options: options(settings),
        queues: Queues::default(),
        reading,
        clock: clock(),
        received: crate::Received::default(),
    })
}

fn clock() -> Arc<VirtualClock> {
    Arc::new(VirtualClock(Instant::now()))
}

/// Opens a connection to the server over the path.
async fn connect(server: &Arc<Server>, path: &Path, options: &Options) -> Result<Opened, ExchangeError> {
    let (near, far) = path.ends();
    tokio::spawn(server.clone().serve(far));
    let stamps = AmqpStamps::new(bytes_before(READING.len()), READING.len());
    open(near, None, stamps, clock(), options, "server.test", "test".to_owned()).await
}

/// Hands one reading over with these settings on both ends; the row, the words of both ends, and how many round trips it took.
async fn deliver(settings: &[(&str, serde_json::Value)]) -> (wirelab_schema::Exchange, Vec<String>, Vec<String>, u128) {
    let (path, server, options) = (Path::default(), server(settings), options(settings));
    let begun = Instant::now();
    let mut attempt = Attempt::start(clock(), 0, None);
    let mut opened = connect(&server, &path, &options).await.expect("opened");
    let sender = attach_sender(&mut opened, &options, DELIVER_ADDRESS).await.expect("attached");
    let connection = Connection { opened, sender: Mutex::new(sender), broken: AtomicBool::new(false) };
    let sent = connection.send(&of_bytes(READING), options.delivery, false, &mut attempt).await;
    let round_trips = begun.elapsed().as_millis() / RTT.as_millis();
    let row = attempt.finish(sent);
    let Connection { opened, sender, .. } = connection;
    opened.close(sender).await;
    sleep(2 * RTT).await;
    (row, path.said_near(), path.said_far(), round_trips)
}

const SET_UP: [&str; 4] = ["header", "open", "begin", "attach"];

#[tokio::test(start_paused = true)]
async fn an_accepted_reading_takes_a_transfer_and_a_settled_disposition() {
    let (row, near, far, round_trips) = deliver(&[]).await;
    assert_eq!(row.outcome, Outcome::Completed, "{row:?}");
    assert_eq!(near, [&SET_UP[..], &["transfer unsettled", "close"]].concat());
    assert_eq!(far, [&SET_UP[..], &["flow", "accepted by receiver, settled", "close"]].concat());
    assert_eq!(round_trips, 4);
    assert_eq!(row.body_sent_bytes, READING.len() as u64);
    assert_eq!(row.first_final_byte_ns.expect("answered") - row.request_start_ns.expect("sent"), 50_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_reading_sent_settled_is_answered_by_nothing_and_ends_when_written() {
    let (row, near, far, round_trips) = deliver(&[("delivery", json!("at-most-once"))]).await;
    assert_eq!(row.outcome, Outcome::Completed, "{row:?}");
    assert_eq!(near, [&SET_UP[..], &["transfer settled", "close"]].concat());
    assert_eq!(far, [&SET_UP[..], &["flow", "close"]].concat());
    assert_eq!(round_trips, 3);
    assert_eq!((row.first_final_byte_ns, row.body_sent_bytes), (None, READING.len() as u64));
    assert!(row.request_start_ns.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_asks_to_settle_second_is_answered_first() {
    let (path, server) = (Path::default(), server(&[]));
    let mut opened = connect(&server, &path, &options(&[])).await.expect("opened");
    let link = Sender::builder().name("another").target("jobs").receiver_settle_mode(ReceiverSettleMode::Second);
    let mut sender = link.attach(&mut opened.session).await.expect("attached");
    send(&mut sender, &[b"1"]).await;
    assert_eq!(path.said_far()[4..], ["flow", "accepted by receiver, settled"]);
}

#[test]
fn exactly_once_is_unsupported() {
    let given = [("delivery".to_owned(), json!("exactly-once"))].into();
    assert!(matches!(Settings::resolve(&AMQP.descriptor(), &given), Err(StackError::Unsupported(_))));
}

#[tokio::test(start_paused = true)]
async fn sasl_takes_two_round_trips_more() {
    for (sasl, word) in [("plain", "PLAIN"), ("anonymous", "ANONYMOUS")] {
        let (row, near, far, round_trips) = deliver(&[("sasl", json!(sasl))]).await;
        assert_eq!(row.outcome, Outcome::Completed, "{word}: {row:?}");
        assert_eq!(near[..3], ["header", "sasl init", "header"]);
        assert_eq!(far[..4], ["header", "sasl mechanisms", "sasl outcome", "header"]);
        assert_eq!(round_trips, 6);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_without_plain_is_refused_where_plain_is_required() {
    let strict = server(&[("sasl", json!("plain"))]);
    for sasl in ["none", "anonymous"] {
        let refused = connect(&strict, &Path::default(), &options(&[("sasl", json!(sasl))])).await;
        assert!(refused.is_err(), "{sasl}");
    }
    assert!(connect(&strict, &Path::default(), &options(&[("sasl", json!("plain"))])).await.is_ok());
    let lenient = server(&[]);
    for sasl in ["none", "anonymous", "plain"] {
        assert!(connect(&lenient, &Path::default(), &options(&[("sasl", json!(sasl))])).await.is_ok(), "{sasl}");
    }
}

#[tokio::test(start_paused = true)]
async fn overlapping_deliveries_on_one_link_each_wait_for_their_own_disposition() {
    let (path, server, options) = (Path::default(), server(&[]), options(&[]));
    let mut opened = connect(&server, &path, &options).await.expect("opened");
    let sender = attach_sender(&mut opened, &options, DELIVER_ADDRESS).await.expect("attached");
    let connection = Connection { opened, sender: Mutex::new(sender), broken: AtomicBool::new(false) };
    let begun = Instant::now();
    let send = async |reading: &'static [u8]| {
        let mut attempt = Attempt::start(clock(), 0, None);
        let sent = connection.send(&of_bytes(reading), Delivery::AtLeastOnce, true, &mut attempt).await;
        attempt.finish(sent)
    };
    let (one, wrong, two) = tokio::join!(send(READING), send(b"21.6 degrees"), send(READING));
    assert_eq!(begun.elapsed(), RTT);
    assert_eq!((one.outcome, wrong.outcome, two.outcome), (Outcome::Completed, Outcome::Failed, Outcome::Completed));
    assert_eq!(wrong.error.as_deref(), Some("rejected: the reading differs from what was sent"));
    for row in [one, wrong, two] {
        assert_eq!(row.first_final_byte_ns.expect("answered") - row.request_start_ns.expect("sent"), 50_000_000);
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_with_an_abandoned_delivery_is_not_used_any_more() {
    let (path, server, options) = (Path::default(), server(&[]), options(&[]));
    let mut opened = connect(&server, &path, &options).await.expect("opened");
    let sender = attach_sender(&mut opened, &options, DELIVER_ADDRESS).await.expect("attached");
    let connection = Connection { opened, sender: Mutex::new(sender), broken: AtomicBool::new(false) };
    let send = async |waits: Duration| {
        let mut attempt = Attempt::start(clock(), 0, None);
        let message = of_bytes(READING);
        let sent = connection.send(&message, Delivery::AtLeastOnce, true, &mut attempt);
        timeout(waits, sent).await.ok().map(|sent| sent.is_ok())
    };
    // Credit for 200 came with the attach, and no more comes.
    path.silence();
    for _ in 0..200 {
        assert_eq!(send(Duration::from_millis(1)).await, None);
    }
    assert!(!connection.broken.load(Ordering::Relaxed), "only the answers were given up");
    assert_eq!(send(RTT).await, None);
    assert!(connection.broken.load(Ordering::Relaxed));
    assert_eq!(send(RTT).await, Some(false));
}

#[tokio::test(start_paused = true)]
async fn a_reading_is_checked_by_its_length_where_the_client_is_not_ours() {
    let server = server(&[]);
    let mut opened = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut foreign = Sender::attach(&mut opened.session, "another", DELIVER_ADDRESS).await.expect("attached");
    let send =
        async |foreign: &mut Sender, body: &[u8]| foreign.send(Data(Binary::from(body))).await.expect("an outcome");
    assert!(send(&mut foreign, b"21.6 degrees").await.is_accepted());
    assert!(!send(&mut foreign, b"21.6 degree").await.is_accepted());
    assert!(foreign.send("21.7 degrees").await.expect("an outcome").is_accepted());
    assert!(!foreign.send(7_u32).await.expect("an outcome").is_accepted());
}

/// A receiver at `address` that grants so much credit and no more.
async fn receiver(opened: &mut Opened, name: &str, address: &str, credit: u32) -> Receiver {
    let link = Receiver::builder().name(name).source(address).credit_mode(CreditMode::Manual);
    let mut receiver = link.attach(&mut opened.session).await.expect("attached");
    if credit > 0 {
        receiver.set_credit(credit).await.expect("granted");
    }
    receiver
}

async fn next(receiver: &mut Receiver) -> Option<Received<message::AnyBody>> {
    Some(timeout(10 * RTT, receiver.recv()).await.ok()?.expect("a message"))
}

fn bytes(received: Received<message::AnyBody>) -> Vec<u8> {
    into_bytes(received.into_body()).expect("bytes").to_vec()
}

#[tokio::test(start_paused = true)]
async fn a_value_of_several_frames_is_taken_and_delivered_unchanged() {
    let server = server(&[]);
    let mut opened = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut sender = Sender::attach(&mut opened.session, "sender", "jobs").await.expect("attached");
    let mut taker = receiver(&mut opened, "taker", "jobs", 10).await;
    for length in [200, 65_500, 65_510, 200_000] {
        let value = Payload::new(1).bytes(length).to_vec();
        let outcome = sender.send(Message::builder().value(Binary::from(value.clone())).build()).await;
        assert!(outcome.expect("an outcome").is_accepted(), "{length}");
        let received = next(&mut taker).await.expect("a message");
        taker.accept(&received).await.expect("accepted");
        assert!(bytes(received) == value, "{length}");
    }
}

#[tokio::test(start_paused = true)]
async fn browsing_selectors_and_expiry_are_refused_as_not_implemented() {
    let server = server(&[]);
    let mut opened = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let browser = Source::builder().address("jobs").distribution_mode(DistributionMode::Copy).build();
    let selector = Source::builder()
        .address("jobs")
        .add_to_filter_using_legacy_format("selector", "colour = 'red'".to_owned())
        .build();
    for (name, source) in [("browser", browser), ("selector", selector)] {
        let link = Receiver::builder().name(name).source(source).attach(&mut opened.session).await;
        let refused = match link {
            Ok(mut receiver) => format!("{:?}", receiver.recv::<message::AnyBody>().await.expect_err("refused")),
            Err(error) => format!("{error:?}"),
        };
        assert!(refused.contains("NotImplemented"), "{name}: {refused}");
    }
    let mut sender = Sender::attach(&mut opened.session, "sender", "jobs").await.expect("attached");
    let header = Header { ttl: Some(1_000), ..Header::default() };
    let mortal = Message::builder().header(header).data(Binary::from(&b"1"[..])).build();
    let outcome = sender.send(mortal).await.expect("an outcome");
    assert!(format!("{outcome:?}").contains("NotImplemented"), "{outcome:?}");
}

async fn send(sender: &mut Sender, bodies: &[&[u8]]) {
    for body in bodies {
        assert!(sender.send(Data(Binary::from(*body))).await.expect("an outcome").is_accepted());
    }
}

#[tokio::test(start_paused = true)]
async fn receivers_of_a_queue_compete_and_one_without_credit_blocks_none() {
    let server = server(&[]);
    let mut opened = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut idle = receiver(&mut opened, "idle", "jobs", 0).await;
    let mut other = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut one = receiver(&mut opened, "one", "jobs", 1).await;
    let mut two = receiver(&mut other, "two", "jobs", 5).await;
    let mut sender = Sender::attach(&mut opened.session, "sender", "jobs").await.expect("attached");
    send(&mut sender, &[b"1", b"2", b"3"]).await;
    let mut heard = Vec::new();
    for receiver in [&mut one, &mut two] {
        while let Some(received) = next(receiver).await {
            receiver.accept(&received).await.expect("accepted");
            heard.push(bytes(received));
        }
    }
    heard.sort();
    assert_eq!(heard, [b"1", b"2", b"3"]);
    assert!(next(&mut idle).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_message_that_a_receiver_releases_goes_to_another() {
    let server = server(&[]);
    let mut opened = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut sender = Sender::attach(&mut opened.session, "sender", "jobs").await.expect("attached");
    send(&mut sender, &[b"1", b"2"]).await;
    let mut leaving = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut first = receiver(&mut leaving, "first", "jobs", 2).await;
    let released = next(&mut first).await.expect("the oldest");
    assert!(next(&mut first).await.is_some());
    first.release(&released).await.expect("released");
    leaving.close(first).await;
    let mut second = receiver(&mut opened, "second", "jobs", 5).await;
    for expected in [b"1", b"2"] {
        let received = next(&mut second).await.expect("again");
        let failed = received.message().header.as_ref().map(|header| header.delivery_count);
        assert_eq!((failed, bytes(received)), (Some(1), expected.to_vec()));
    }
}

#[tokio::test(start_paused = true)]
async fn every_receiver_gets_a_change_and_a_message_is_not_altered() {
    let server = server(&[]);
    let mut opened = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut one = receiver(&mut opened, "one", NOTIFY_ADDRESS, 5).await;
    let mut two = receiver(&mut opened, "two", NOTIFY_ADDRESS, 5).await;
    let mut sender = Sender::attach(&mut opened.session, "sender", NOTIFY_ADDRESS).await.expect("attached");
    let properties = fe2o3_amqp::types::messaging::Properties::builder().subject("open".to_owned()).build();
    let message = Message::builder().properties(properties.clone()).value("door").build();
    assert!(sender.send(message).await.expect("an outcome").is_accepted());
    for receiver in [&mut one, &mut two] {
        let received = next(receiver).await.expect("told");
        assert_eq!(received.message().properties.as_ref(), Some(&properties));
        assert_eq!(bytes(received), b"door");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sender_and_a_receiver_of_one_name_are_two_links() {
    let (path, server) = (Path::default(), server(&[]));
    let (mut near, far) = path.ends();
    tokio::spawn(server.serve(far));
    let head = |size: u8| [0, 0, 0, size, 2, 0, 0, 0, 0x00, 0x53];
    let open = [&head(17)[..], &[0x10, 0xc0, 4, 1, 0xa1, 1, b'x']].concat();
    let begin = [&head(23)[..], &[0x11, 0xc0, 10, 4, 0x40, 0x43, 0x70, 0, 0, 1, 0, 0x52, 100]].concat();
    // Link "x": source and target have the address "q", in a described list of one field.
    let attach = |handle: u8, role: u8| {
        let terminus = |code: u8| [0x00, 0x53, code, 0xc0, 4, 1, 0xa1, 1, b'q'];
        let fields = [
            &[0xa1, 1, b'x', 0x52, handle, role, 0x40, 0x40][..],
            &terminus(0x28),
            &terminus(0x29),
            &[0x40, 0x40, 0x43],
        ];
        let fields = fields.concat();
        [&head(14 + fields.len() as u8)[..], &[0x12, 0xc0, fields.len() as u8 + 1, 10], &fields].concat()
    };
    near.write_all(&[&b"AMQP\x00\x01\x00\x00"[..], &open, &begin, &attach(0, 0x42), &attach(1, 0x41)].concat())
        .await
        .expect("sent");
    sleep(10 * RTT).await;
    let said = path.said_far();
    assert_eq!(said.iter().filter(|word| *word == "attach").count(), 2, "{said:?}");
    assert!(said.iter().all(|word| !["detach", "end", "close"].contains(&word.as_str())), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_refused_ends_neither_session_nor_connection() {
    let server = server(&[]);
    let mut opened = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut sender = Sender::attach(&mut opened.session, "sender", "jobs").await.expect("attached");
    let nowhere = Sender::builder().name("nowhere").target(fe2o3_amqp::types::messaging::Target::default());
    if let Ok(mut nowhere) = nowhere.attach(&mut opened.session).await {
        assert!(timeout(10 * RTT, nowhere.send(Data(Binary::from(&b"1"[..])))).await.is_ok_and(|sent| sent.is_err()));
    }
    send(&mut sender, &[b"1"]).await;
    assert!(opened.is_usable());
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_not_amqp_end_their_own_connection_only() {
    let server = server(&[]);
    let mut sound = connect(&server, &Path::default(), &options(&[])).await.expect("opened");
    let mut sender = Sender::attach(&mut sound.session, "sender", "jobs").await.expect("attached");
    let header = b"AMQP\x00\x01\x00\x00";
    // An `open` with container-id "x", then whatever comes.
    let open = [0, 0, 0, 17, 2, 0, 0, 0, 0x00, 0x53, 0x10, 0xc0, 4, 1, 0xa1, 1, b'x'];
    let unknown = [0, 0, 0, 12, 2, 0, 0, 0, 0x00, 0x53, 0x77, 0x45];
    let cut_short = [0, 0, 0, 13, 2, 0, 0, 0, 0x00, 0x53, 0x11, 0xc0, 200];
    let tiny = [0, 0, 0, 3, 2, 0, 0, 0];
    let huge = [0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0];
    let stray = [0, 0, 0, 12, 2, 0, 0, 9, 0x00, 0x53, 0x13, 0x45];
    for bad in [&unknown[..], &cut_short, &tiny, &huge, &stray] {
        for opened in [false, true] {
            let (mut near, far) = Path::default().ends();
            let served = tokio::spawn(server.clone().serve(far));
            let first = if opened { [&header[..], &open, bad].concat() } else { [&header[..], bad].concat() };
            near.write_all(&first).await.expect("sent");
            let mut said = Vec::new();
            let ended = timeout(Duration::from_secs(5), near.read_to_end(&mut said)).await;
            drop(near);
            timeout(Duration::from_secs(5), served).await.expect("served to its end").expect("no panic");
            assert!(ended.is_ok() || !opened, "{bad:?} {opened}: {said:?}");
        }
    }
    let (mut near, far) = Path::default().ends();
    tokio::spawn(server.clone().serve(far));
    near.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("sent");
    let mut said = Vec::new();
    near.read_to_end(&mut said).await.expect("closed");
    assert_eq!(said, header, "what is spoken here");
    send(&mut sender, &[b"1"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_alive_by_empty_frames_and_ends_when_the_peer_is_silent() {
    let (path, server) = (Path::default(), server(&[]));
    let opened = connect(&server, &path, &options(&[("idle-time-out", json!(1_000))])).await.expect("opened");
    sleep(Duration::from_secs(10)).await;
    assert!(opened.is_usable());
    path.silence();
    sleep(Duration::from_secs(3)).await;
    assert!(!opened.is_usable());
}

#[test]
fn the_setting_describes_the_user_of_plain() {
    let descriptor = AMQP.descriptor();
    let sasl = descriptor.settings.iter().find(|setting| setting.name == "sasl").expect("there");
    assert!(sasl.about.contains(&format!("`{USER}`")));
}
