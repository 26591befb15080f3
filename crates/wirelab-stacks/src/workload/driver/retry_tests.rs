//! Tests: clients that keep what they could not send, in virtual time, with a server that is away for a while.

use std::ops::Range;

use tokio::time::{Instant, sleep};
use wirelab_schema::{ArrivalSpec, Retry, WorkloadSpec};

use super::super::check;
use super::super::virtual_time::{MS, Rows, context};
use super::tests::workload;
use super::*;

const S: u64 = 1_000 * MS;

/// Connects in 5 ms and answers in 10 ms, but refuses or is silent in the given seconds.
#[derive(Clone)]
struct Away {
    began: Instant,
    refuses: Range<u64>,
    silent: Range<u64>,
    shared: bool,
    connected: Arc<AtomicU32>,
}

impl Away {
    fn new(refuses: Range<u64>, silent: Range<u64>) -> Self {
        Away { began: Instant::now(), refuses, silent, shared: false, connected: Arc::default() }
    }

    async fn answer(&self, milliseconds: u64) -> Result<(), ExchangeError> {
        let elapsed_s = self.began.elapsed().as_secs();
        if self.silent.contains(&elapsed_s) {
            sleep(Duration::from_secs(86_400)).await;
        }
        if self.refuses.contains(&elapsed_s) {
            return Err(ExchangeError::new("refused"));
        }
        sleep(Duration::from_millis(milliseconds)).await;
        Ok(())
    }
}

impl Client for Away {
    type Connection = u32;

    async fn connect(&self, _attempt: &mut Attempt) -> Result<u32, ExchangeError> {
        self.answer(5).await?;
        Ok(self.connected.fetch_add(1, Ordering::Relaxed))
    }

    async fn exchange(&self, connection: &mut u32, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        attempt.exchange.local_port = Some(*connection as u16);
        self.answer(10).await
    }

    fn share(&self, connection: &u32) -> Option<u32> {
        self.shared.then_some(*connection)
    }

    fn is_usable(&self, _connection: &u32) -> bool {
        true
    }

    async fn close(&self, _connection: u32) {}
}

fn retry() -> Retry {
    Retry {
        first_ns: 2 * S,
        factor_percent: 200,
        longest_ns: 60 * S,
        jitter_percent: 0,
        keep_ns: 3_600 * S,
        backlog: 100,
    }
}

/// One message in 10 s, the first at once.
fn kept(exchanges: u32, retry: Retry) -> RequestResponse {
    let arrival = ArrivalSpec::Periodic { interval_ns: 10 * S, jitter_ns: 0 };
    RequestResponse { arrival, timeout_ns: S, retry: Some(retry), ..workload(exchanges) }
}

/// The rows in the order in which they were recorded, and how long the client worked (ms).
async fn rows(work: RequestResponse, client: Away) -> (Vec<Exchange>, u64) {
    let (rows, began) = (Rows::default(), Instant::now());
    let (context, _stopper) = context(WorkloadSpec::RequestResponse(work), rows.clone());
    drive(context, |_, _| Ok(client.clone())).await.expect("driven");
    (rows.taken(), began.elapsed().as_millis() as u64)
}

fn indices(rows: &[Exchange]) -> Vec<u32> {
    rows.iter().map(|row| row.index).collect()
}

fn attempts(rows: &[Exchange]) -> Vec<u32> {
    rows.iter().filter_map(|row| row.request().and_then(|columns| columns.attempts)).collect()
}

/// From the intended start of each to the start of the last attempt and to the end, in ms.
fn delays(rows: &[Exchange]) -> Vec<(u64, u64)> {
    let since = |row: &Exchange, instant_ns: u64| (instant_ns - row.intended_start_ns) / MS;
    rows.iter().map(|row| (since(row, row.start_ns), since(row, row.end_ns))).collect()
}

#[tokio::test(start_paused = true)]
async fn all_messages_arrive_in_order_when_the_server_was_away() {
    // Attempts at 10, 12, 16, 24, 40 and 72 s.
    let (rows, lasted) = rows(kept(12, retry()), Away::new(5..45, 0..0)).await;
    assert!(rows.iter().all(|row| row.outcome == Outcome::Completed));
    assert_eq!(indices(&rows), (0..12).collect::<Vec<_>>());
    assert_eq!(attempts(&rows), [1, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    let late = [62_000, 52_015, 42_030, 32_045, 22_060, 12_075, 2_090];
    assert_eq!(delays(&rows[1..8]), late.map(|start| (start, start + 15)));
    assert_eq!(delays(&rows[8..]), [(0, 15); 4]);
    // A place was free for them when the one before had ended.
    let place_ns = |row: &Exchange| row.request().and_then(|columns| columns.place_ns);
    assert_eq!(place_ns(&rows[2]), Some(rows[1].end_ns));
    assert_eq!(lasted, 120_000, "the last message has its gap");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reaches_its_server_sends_as_one_that_keeps_nothing() {
    let work = kept(5, retry());
    let plain = RequestResponse { retry: None, ..work.clone() };
    let (plain, kept) = (rows(plain, Away::new(0..0, 0..0)).await, rows(work, Away::new(0..0, 0..0)).await);
    assert_eq!((delays(&plain.0), plain.1), (delays(&kept.0), kept.1));
    assert_eq!((attempts(&plain.0), attempts(&kept.0)), (vec![], vec![1; 5]));
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_closes_a_persistent_connection_and_the_next_opens_another() {
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    for shared in [false, true] {
        for (refuses, silent) in [(8..11, 0..0), (0..0, 8..11)] {
            let client = Away { shared, ..Away::new(refuses, silent) };
            let (rows, _) = rows(RequestResponse { connection: connection.clone(), ..kept(3, retry()) }, client).await;
            assert_eq!(attempts(&rows), [1, 2, 1]);
            assert_eq!(rows.iter().map(|row| row.local_port).collect::<Vec<_>>(), [0, 1, 1].map(Some));
            assert_eq!(rows.iter().map(|row| row.connection_reused).collect::<Vec<_>>(), [false, false, true]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_kept_has_a_row_with_its_reason() {
    let small = Retry { backlog: 3, ..retry() };
    // Attempts at 10, 12, 16, 24 and 40 s, when message 4 has dropped message 1. 5 drops 2, 6 drops 3, and 7 drops 4, before the attempt at 72 s.
    let (dropped, _) = rows(kept(12, small), Away::new(5..72, 0..0)).await;
    assert_eq!(indices(&dropped), (0..12).collect::<Vec<_>>());
    let lost: Vec<u32> = dropped.iter().filter(|row| row.outcome == Outcome::Failed).map(|row| row.index).collect();
    assert_eq!(lost, [1, 2, 3, 4]);
    assert_eq!(dropped[1].error.as_deref(), Some("dropped: the backlog holds 3 messages"));
    assert_eq!(delays(&dropped[1..4]), [(14_000, 30_000), (20_000, 30_000), (30_000, 30_000)]);
    assert_eq!(attempts(&dropped)[..6], [1, 4, 1, 0, 0, 1]);

    let short = Retry { keep_ns: 25 * S, ..retry() };
    let (late, _) = rows(kept(12, short), Away::new(5..72, 0..0)).await;
    let lost: Vec<u32> = late.iter().filter(|row| row.outcome == Outcome::TimedOut).map(|row| row.index).collect();
    assert_eq!((indices(&late), lost), ((0..12).collect::<Vec<_>>(), vec![1, 2, 3, 4]));
    assert_eq!(late[1].error.as_deref(), Some("kept for 25 s"));
    assert_eq!(late[1].end_ns - late[1].intended_start_ns, 25 * S);
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_at_the_end_has_timed_out_and_the_client_ends() {
    let (refused, lasted) = rows(kept(4, retry()), Away::new(15..1_000_000, 0..0)).await;
    assert_eq!((indices(&refused), lasted), ((0..4).collect::<Vec<_>>(), 40_000));
    let lost: Vec<_> = refused[2..].iter().map(|row| (row.outcome, row.error.as_deref())).collect();
    assert_eq!(lost, [(Outcome::TimedOut, Some("kept until the end of the trial")); 2]);
    // Messages that come faster than they time out are waited for.
    let fast = RequestResponse { arrival: ArrivalSpec::Fixed { rate_hz: 10.0 }, ..kept(4, retry()) };
    let (silent, lasted) = rows(fast, Away::new(0..0, 0..1_000_000)).await;
    assert_eq!((silent.len(), attempts(&silent), lasted), (4, vec![1, 0, 0, 0], 1_300));
    assert!(silent.iter().all(|row| row.end_ns - row.intended_start_ns >= S));
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_only_is_slow_is_sent_after_the_end() {
    let fast = RequestResponse { arrival: ArrivalSpec::Fixed { rate_hz: 100.0 }, ..kept(300, retry()) };
    let unbounded = Retry { backlog: 1_000, ..retry() };
    let (rows, lasted) = rows(RequestResponse { retry: Some(unbounded), ..fast }, Away::new(0..0, 0..0)).await;
    assert!(rows.iter().all(|row| row.outcome == Outcome::Completed));
    assert_eq!((indices(&rows), lasted), ((0..300).collect::<Vec<_>>(), 4_500));
}

#[tokio::test(start_paused = true)]
async fn each_client_keeps_messages_of_its_own() {
    let (rows, _) = rows(RequestResponse { clients: 3, ..kept(6, retry()) }, Away::new(5..25, 0..0)).await;
    assert_eq!(rows.len(), 18);
    for client in 0..3 {
        let own: Vec<u32> = rows.iter().filter(|row| row.client == client).map(|row| row.index).collect();
        assert_eq!(own, (0..6).collect::<Vec<_>>());
    }
}

#[test]
fn a_retry_that_makes_no_sense_is_refused() {
    let check = |work: RequestResponse| check(&work.into()).map_err(|error| error.to_string());
    assert_eq!(check(kept(3, retry())), Ok(()));
    let idle = ArrivalSpec::IdleStart { interval_ns: 10 * S };
    let wrong = [
        RequestResponse { arrival: ArrivalSpec::Closed, ..kept(3, retry()) },
        RequestResponse { arrival: idle, ..kept(3, retry()) },
        RequestResponse { concurrency: 2, ..kept(3, retry()) },
        kept(3, Retry { first_ns: 0, ..retry() }),
        kept(3, Retry { factor_percent: 99, ..retry() }),
        kept(3, Retry { longest_ns: S, ..retry() }),
        kept(3, Retry { jitter_percent: 101, ..retry() }),
        kept(3, Retry { keep_ns: S - 1, ..retry() }),
        kept(3, Retry { backlog: 0, ..retry() }),
    ];
    assert!(wrong.into_iter().all(|work| check(work).is_err()));
}
