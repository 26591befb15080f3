//! Tests: workloads in virtual time.

use std::sync::Mutex as StdMutex;
use std::sync::atomic::AtomicBool;

use tokio::time::{Instant, sleep};
use wirelab_schema::{ArrivalSpec, DownloadBytes, PubSub, ResourceTiming, Telemetry, WorkloadSpec};

use super::super::virtual_time::{MS, Rows, context};
use super::super::{MAX_BODY_BYTES, check};
use super::*;

/// Has room for a few rows, and says whether it was told that all are there.
#[derive(Clone)]
struct Bounded {
    room: u32,
    finished: Arc<AtomicBool>,
}

impl Recorder for Bounded {
    fn record(&mut self, _exchange: Exchange) -> Result<(), StackError> {
        self.room = self.room.checked_sub(1).ok_or_else(|| StackError::Failed("no room".to_owned()))?;
        Ok(())
    }

    fn record_resource(&mut self, _resource: ResourceTiming) -> Result<(), StackError> {
        unreachable!("only `page` has resources");
    }

    fn finish(&mut self) -> Result<(), StackError> {
        self.finished.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Connects in 5 ms and answers in the times given, in order, then in 10 ms; `None` is an error.
#[derive(Clone, Default)]
pub(super) struct Scripted {
    answers: Arc<StdMutex<Vec<Option<u64>>>>,
    shared: bool,
    connected: Arc<AtomicU32>,
    pub(super) closed: Arc<AtomicU32>,
    broken: Arc<AtomicBool>,
}

impl Client for Scripted {
    type Connection = u32;

    async fn connect(&self, attempt: &mut Attempt) -> Result<u32, ExchangeError> {
        sleep(Duration::from_millis(5)).await;
        attempt.exchange.tcp_connect_ns = attempt.now();
        Ok(self.connected.fetch_add(1, Ordering::Relaxed))
    }

    async fn exchange(&self, connection: &mut u32, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        attempt.exchange.local_port = Some(*connection as u16);
        let answer = {
            let mut answers = self.answers.lock().expect("unpoisoned");
            if answers.is_empty() { Some(10) } else { answers.remove(0) }
        };
        sleep(Duration::from_millis(answer.unwrap_or(1))).await;
        answer.map(drop).ok_or_else(|| ExchangeError::new("refused"))
    }

    fn share(&self, connection: &u32) -> Option<u32> {
        self.shared.then_some(*connection)
    }

    fn is_usable(&self, _connection: &u32) -> bool {
        !self.broken.swap(false, Ordering::Relaxed)
    }

    async fn close(&self, _connection: u32) {
        self.closed.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(1)).await;
    }
}

pub(super) fn workload(exchanges: u32) -> RequestResponse {
    RequestResponse {
        upload_bytes: 30,
        download_bytes: 0.into(),
        exchanges,
        clients: 1,
        arrival: ArrivalSpec::Closed,
        concurrency: 1,
        timeout_ns: 100 * MS,
        connection: ConnectionPolicy::New,
        device: None,
        retry: None,
        request: None,
    }
}

async fn rows(workload: RequestResponse, client: Scripted) -> Vec<Exchange> {
    let rows = Rows::default();
    let (context, _stopper) = context(WorkloadSpec::RequestResponse(workload), rows.clone());
    drive(context, |_, _| Ok(client.clone())).await.expect("driven");
    rows.taken()
}

pub(super) fn answers(answers: &[Option<u64>]) -> Scripted {
    Scripted { answers: Arc::new(StdMutex::new(answers.to_vec())), ..Scripted::default() }
}

/// How long the client works, in ms, and its rows.
async fn lasting(workload: RequestResponse) -> (u64, Vec<Exchange>) {
    let began = Instant::now();
    let rows = rows(workload, Scripted::default()).await;
    (began.elapsed().as_millis() as u64, rows)
}

/// Start and end of each exchange in ms from the first start.
pub(super) fn spans(rows: &[Exchange]) -> Vec<(u64, u64)> {
    let origin = rows[0].start_ns;
    rows.iter().map(|row| ((row.start_ns - origin) / MS, (row.end_ns - origin) / MS)).collect()
}

#[tokio::test(start_paused = true)]
async fn in_a_closed_loop_the_next_exchange_starts_when_the_connection_before_it_is_closed() {
    let client = Scripted::default();
    let closed = client.closed.clone();
    let rows = rows(workload(2), client).await;
    assert_eq!(spans(&rows), [(0, 15), (16, 31)]);
    assert!(rows.iter().all(|row| row.intended_start_ns == row.start_ns && row.tcp_connect_ns.is_some()));
    assert_eq!(closed.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_late_open_loop_exchange_keeps_its_intended_start() {
    let arrival = ArrivalSpec::Fixed { rate_hz: 50.0 };
    let rows = rows(RequestResponse { arrival, ..workload(3) }, answers(&[Some(45)])).await;
    let intended: Vec<u64> = rows.iter().map(|row| (row.intended_start_ns - rows[0].intended_start_ns) / MS).collect();
    assert_eq!(intended, [0, 20, 40]);
    assert_eq!(spans(&rows), [(0, 50), (51, 66), (67, 82)]);
}

/// When each exchange had a place, in ms from the first intended start.
fn places(rows: &[Exchange]) -> Vec<Option<i64>> {
    let origin = rows[0].intended_start_ns as i64;
    let place_ns = |row: &Exchange| row.request().and_then(|columns| columns.place_ns);
    rows.iter().map(|row| place_ns(row).map(|place_ns| (place_ns as i64 - origin) / MS as i64)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_message_without_a_place_says_when_it_got_one() {
    let arrival = ArrivalSpec::Fixed { rate_hz: 50.0 };
    let taken = rows(RequestResponse { arrival: arrival.clone(), ..workload(3) }, answers(&[Some(45)])).await;
    assert_eq!(places(&taken), [0, 51, 67].map(Some), "no place was free at 20 and 40 ms");
    let free = rows(RequestResponse { arrival, ..workload(3) }, Scripted::default()).await;
    assert_eq!(places(&free), [0, 16, 36].map(Some), "the place waited for the message");
    let closed = rows(workload(2), Scripted::default()).await;
    assert_eq!(places(&closed), [None, None]);
}

#[tokio::test(start_paused = true)]
async fn a_device_computes_for_each_connection_and_each_message() {
    let device = Some(Device { message_ns: 3 * MS, handshake_ns: 20 * MS, ..Device::default() });
    let fresh = rows(RequestResponse { device, ..workload(2) }, Scripted::default()).await;
    assert_eq!(spans(&fresh), [(0, 38), (39, 77)]);
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    let kept = rows(RequestResponse { device, connection, ..workload(2) }, Scripted::default()).await;
    assert_eq!(spans(&kept), [(0, 38), (38, 51)]);
}

#[tokio::test(start_paused = true)]
async fn clients_of_a_closed_loop_begin_at_phases_of_their_own() {
    let device = Some(Device { start_phase_ns: 1_000 * MS, ..Device::default() });
    let rows = rows(RequestResponse { device, clients: 20, ..workload(1) }, Scripted::default()).await;
    let begun: Vec<u64> = rows.iter().map(|row| row.start_ns / MS).collect();
    let (first, last) = (begun.iter().min().expect("rows"), begun.iter().max().expect("rows"));
    assert!((500..=1_000).contains(&(last - first)), "{begun:?}");
}

#[tokio::test(start_paused = true)]
async fn open_loop_exchanges_overlap_up_to_the_concurrency() {
    let arrival = ArrivalSpec::Fixed { rate_hz: 100.0 };
    let slow = answers(&[Some(30), Some(30), Some(30), Some(30)]);
    let mut rows = rows(RequestResponse { arrival, concurrency: 2, ..workload(4) }, slow).await;
    rows.sort_by_key(|row| row.index);
    assert_eq!(spans(&rows), [(0, 35), (10, 45), (36, 71), (46, 81)]);
}

#[tokio::test(start_paused = true)]
async fn an_exchange_ends_at_its_time_out() {
    let rows = rows(workload(2), answers(&[Some(500)])).await;
    assert_eq!(rows[0].outcome, Outcome::TimedOut);
    assert_eq!(rows[0].end_ns - rows[0].start_ns, 100 * MS);
    assert!(rows[0].tcp_connect_ns.is_some(), "phases before the time-out are kept");
    assert_eq!(rows[1].outcome, Outcome::Completed);
}

#[tokio::test(start_paused = true)]
async fn only_the_exchange_that_opens_a_persistent_connection_has_its_phases() {
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    let rows = rows(RequestResponse { connection, ..workload(3) }, Scripted::default()).await;
    let reused: Vec<bool> = rows.iter().map(|row| row.connection_reused).collect();
    assert_eq!(reused, [false, true, true]);
    let connected: Vec<bool> = rows.iter().map(|row| row.tcp_connect_ns.is_some()).collect();
    assert_eq!(connected, [true, false, false]);
    assert_eq!(spans(&rows), [(0, 15), (15, 25), (25, 35)]);
}

#[tokio::test(start_paused = true)]
async fn exchanges_take_turns_on_persistent_connections() {
    let connection = ConnectionPolicy::Persistent { connections: 2 };
    let rows = rows(RequestResponse { connection, ..workload(5) }, Scripted::default()).await;
    assert_eq!(rows.iter().map(|row| row.local_port).collect::<Vec<_>>(), [0, 1, 0, 1, 0].map(Some));
}

#[tokio::test(start_paused = true)]
async fn a_persistent_connection_is_reopened_after_a_failed_exchange() {
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    let rows = rows(RequestResponse { connection, ..workload(3) }, answers(&[Some(10), None])).await;
    assert_eq!(rows.iter().map(|row| row.outcome == Outcome::Failed).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(rows[1].error.as_deref(), Some("refused"));
    assert_eq!(rows.iter().map(|row| row.connection_reused).collect::<Vec<_>>(), [false, true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_shared_connection_is_kept_after_a_time_out_unless_the_setting_gives_it_up() {
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    for (setting, ports) in [("keep", [0, 0, 0]), ("reconnect", [0, 1, 1])] {
        let client = Scripted { shared: true, ..answers(&[Some(500)]) };
        let recorded = Rows::default();
        let work = WorkloadSpec::RequestResponse(RequestResponse { connection: connection.clone(), ..workload(3) });
        let (mut context, _stopper) = context(work, recorded.clone());
        context.parameters.settings.insert("after-timeout".to_owned(), setting.into());
        drive(context, |_, _| Ok(client.clone())).await.expect("driven");
        let rows = recorded.taken();
        assert_eq!(rows[0].outcome, Outcome::TimedOut, "{setting}");
        assert_eq!(rows.iter().map(|row| row.local_port.expect("a port")).collect::<Vec<_>>(), ports, "{setting}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_persistent_connection_that_ended_while_idle_is_reopened() {
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    let client = Scripted::default();
    client.broken.store(true, Ordering::Relaxed);
    let rows = rows(RequestResponse { connection, ..workload(3) }, client).await;
    assert_eq!(rows.iter().map(|row| row.connection_reused).collect::<Vec<_>>(), [false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn exchanges_wait_for_a_connection_that_carries_one_at_a_time_and_share_one_that_carries_many() {
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    let two = RequestResponse { connection, concurrency: 2, ..workload(2) };
    let exclusive = rows(two.clone(), Scripted::default()).await;
    assert_eq!(spans(&exclusive), [(0, 15), (0, 25)]);
    let shared = rows(two, Scripted { shared: true, ..Scripted::default() }).await;
    assert_eq!(spans(&shared), [(0, 15), (0, 15)]);
    assert_eq!(shared.iter().filter(|row| row.connection_reused).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn clients_of_a_population_work_side_by_side_each_with_connections_of_its_own() {
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    let mut rows = rows(RequestResponse { connection, clients: 2, ..workload(2) }, Scripted::default()).await;
    rows.sort_by_key(|row| (row.client, row.index));
    let places: Vec<_> = rows.iter().map(|row| (row.client, row.index, row.connection_reused)).collect();
    assert_eq!(places, [(0, 0, false), (0, 1, true), (1, 0, false), (1, 1, true)]);
    assert_eq!(spans(&rows), [(0, 15), (15, 25), (0, 15), (15, 25)]);
    assert_ne!(rows[0].local_port, rows[2].local_port);
}

#[tokio::test(start_paused = true)]
async fn clients_of_a_population_start_a_fixed_rate_at_different_phases() {
    let arrival = ArrivalSpec::Fixed { rate_hz: 1.0 };
    let rows = rows(RequestResponse { arrival, clients: 3, ..workload(1) }, Scripted::default()).await;
    let mut starts: Vec<_> = rows.iter().map(|row| row.intended_start_ns).collect();
    starts.dedup();
    assert_eq!(starts.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn before_a_resumed_connection_one_that_is_not_recorded_gets_the_session() {
    let client = Scripted::default();
    let connected = client.connected.clone();
    let rows = rows(RequestResponse { connection: ConnectionPolicy::Resumed, ..workload(2) }, client).await;
    assert_eq!(spans(&rows), [(0, 15), (16, 31)]);
    assert_eq!(rows.iter().map(|row| row.local_port).collect::<Vec<_>>(), [1, 2].map(Some));
    assert_eq!(connected.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_got_is_tried_three_times_and_the_work_begins_nevertheless() {
    let client = answers(&[None, None, None]);
    let connected = client.connected.clone();
    let rows = rows(RequestResponse { connection: ConnectionPolicy::Resumed, ..workload(1) }, client).await;
    assert_eq!((rows.len(), rows[0].outcome), (1, Outcome::Completed));
    assert_eq!(connected.load(Ordering::Relaxed), 4);
}

#[tokio::test(start_paused = true)]
async fn a_delivery_is_driven_as_a_request_with_an_empty_answer() {
    let deliver = WorkloadSpec::Telemetry(Telemetry {
        message_bytes: 30,
        exchanges: 2,
        clients: 1,
        arrival: ArrivalSpec::Closed,
        concurrency: 1,
        timeout_ns: 100 * MS,
        connection: ConnectionPolicy::New,
        device: None,
        retry: None,
        publish: None,
    });
    assert!(matches!(Work::of(&deliver), Work::Exchanges(work) if work == workload(2)));
    let rows = Rows::default();
    let (context, _stopper) = context(deliver, rows.clone());
    drive(context, |_, _| Ok(Scripted::default())).await.expect("driven");
    assert_eq!(spans(&rows.taken()), [(0, 15), (16, 31)]);
}

#[tokio::test(start_paused = true)]
async fn when_stopped_only_finished_exchanges_are_recorded() {
    let recorded = Rows::default();
    let (context, stopper) = context(WorkloadSpec::RequestResponse(workload(1_000)), recorded.clone());
    tokio::spawn(async move {
        sleep(Duration::from_millis(40)).await;
        stopper.stop();
    });
    drive(context, |_, _| Ok(Scripted::default())).await.expect("stopped cleanly");
    assert_eq!(recorded.taken().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_open_loop_ends_one_gap_after_its_last_message() {
    let kept = RequestResponse { connection: ConnectionPolicy::Persistent { connections: 1 }, ..workload(3) };
    for (arrival, ms) in [
        (ArrivalSpec::Fixed { rate_hz: 2.0 }, 1_500),
        (ArrivalSpec::Periodic { interval_ns: 700 * MS, jitter_ns: 0 }, 2_100),
        (ArrivalSpec::Bursts { interval_ns: 700 * MS, rate_hz: 10.0, duration_ns: 200 * MS }, 1_400),
    ] {
        let (lasted, rows) = lasting(RequestResponse { arrival: arrival.clone(), ..kept.clone() }).await;
        // Closing takes 1 ms.
        assert_eq!((lasted, rows.len()), (ms + 1, 3), "{arrival:?}");
    }
    let (lasted, rows) = lasting(RequestResponse { arrival: ArrivalSpec::Poisson { rate_hz: 2.0 }, ..kept }).await;
    let last = (rows[2].intended_start_ns - 10 * MS) / MS;
    assert!((500..=503).contains(&(lasted - last)), "{lasted} {last}");
}

#[tokio::test(start_paused = true)]
async fn a_closed_loop_does_not_wait_at_its_end() {
    assert_eq!(lasting(workload(2)).await.0, 32);
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_the_last_gap() {
    let recorded = Rows::default();
    // One in centuries.
    let arrival = ArrivalSpec::Fixed { rate_hz: 1e-12 };
    let (context, stopper) =
        context(WorkloadSpec::RequestResponse(RequestResponse { arrival, ..workload(1) }), recorded.clone());
    tokio::spawn(async move {
        sleep(Duration::from_secs(3_600)).await;
        stopper.stop();
    });
    let began = Instant::now();
    drive(context, |_, _| Ok(Scripted::default())).await.expect("stopped cleanly");
    assert_eq!((began.elapsed().as_secs(), recorded.taken().len()), (3_600, 1));
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_recorded_ends_the_endpoint_and_its_records_never_count_as_complete() {
    for (room, complete) in [(1, false), (2, true)] {
        let finished = Arc::<AtomicBool>::default();
        let (context, _stopper) =
            context(WorkloadSpec::RequestResponse(workload(2)), Bounded { room, finished: finished.clone() });
        assert_eq!(drive(context, |_, _| Ok(Scripted::default())).await.is_ok(), complete);
        assert_eq!(finished.load(Ordering::Relaxed), complete);
    }
}

fn bursts(interval_ns: u64, rate_hz: f64, duration_ns: u64) -> ArrivalSpec {
    ArrivalSpec::Bursts { interval_ns, rate_hz, duration_ns }
}

#[test]
fn a_workload_that_makes_no_sense_is_refused() {
    let kept = ConnectionPolicy::Persistent { connections: 0 };
    let bad = [
        RequestResponse { upload_bytes: MAX_BODY_BYTES + 1, ..workload(1) },
        RequestResponse { download_bytes: u64::MAX.into(), ..workload(1) },
        RequestResponse { download_bytes: DownloadBytes::InTurn(vec![1, MAX_BODY_BYTES + 1]), ..workload(1) },
        RequestResponse { download_bytes: DownloadBytes::InTurn(vec![]), ..workload(1) },
        RequestResponse { download_bytes: DownloadBytes::InTurn(vec![1, 2]), upload_bytes: 1, ..workload(1) },
        RequestResponse { clients: 0, ..workload(1) },
        RequestResponse { concurrency: 0, ..workload(1) },
        RequestResponse { timeout_ns: 0, ..workload(1) },
        RequestResponse { arrival: ArrivalSpec::Fixed { rate_hz: 0.0 }, ..workload(1) },
        RequestResponse { arrival: ArrivalSpec::Poisson { rate_hz: f64::NAN }, ..workload(1) },
        RequestResponse { arrival: ArrivalSpec::Periodic { interval_ns: 0, jitter_ns: 0 }, ..workload(1) },
        RequestResponse { arrival: ArrivalSpec::Periodic { interval_ns: 5, jitter_ns: 6 }, ..workload(1) },
        RequestResponse { arrival: bursts(0, 1.0, 0), ..workload(1) },
        RequestResponse { arrival: bursts(5, 1.0, 0), ..workload(1) },
        RequestResponse { arrival: bursts(5, 1.0, 6), ..workload(1) },
        RequestResponse { arrival: bursts(5, 0.0, 5), ..workload(1) },
        RequestResponse { connection: kept, ..workload(1) },
    ];
    for workload in bad {
        assert!(matches!(check(&WorkloadSpec::RequestResponse(workload)), Err(StackError::Usage(_))));
    }
    let arrival = ArrivalSpec::Fixed { rate_hz: 1.0 };
    let notify =
        PubSub { message_bytes: 12, messages: 1, subscribers: 1, arrival, timeout_ns: 1, wait: Default::default() };
    assert!(check(&WorkloadSpec::PubSub(notify.clone())).is_ok());
    let bad = [
        PubSub { message_bytes: 11, ..notify.clone() },
        PubSub { messages: 0, ..notify.clone() },
        PubSub { subscribers: 0, ..notify.clone() },
        PubSub { arrival: ArrivalSpec::Closed, ..notify.clone() },
        PubSub { timeout_ns: 0, ..notify },
    ];
    for workload in bad {
        assert!(matches!(check(&WorkloadSpec::PubSub(workload)), Err(StackError::Usage(_))));
    }
}
