//! Tests: subscribers, under delays, loss and refusals.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use tokio::time::{Instant, sleep};
use wirelab_schema::{ArrivalSpec, Exchange, Outcome, Wait, WorkloadSpec};

use super::*;
use crate::workload::virtual_time::{MS, Rows, context};
use crate::workload::{Changes, Publication, Waiting};

/// What befalls a subscriber's next message.
#[derive(Clone, Copy)]
enum Fate {
    /// It comes after so many ms.
    After(u64),
    /// It comes at once, and once more.
    Twice,
    /// It never comes.
    Lost,
    /// It comes with a bit that is wrong.
    Wrong,
    /// The connection breaks instead; the message comes when subscribed anew.
    Breaks,
}

/// Subscribes in 5 ms to a server on the spot.
struct Scripted {
    publication: Arc<Publication>,
    fates: Mutex<VecDeque<Fate>>,
    had: AtomicU32,
    refused: Arc<AtomicBool>,
    /// It forgets a subscriber that was away for longer, with what waits for it.
    session: Option<Duration>,
    left: Mutex<Option<Instant>>,
    /// Requests for what is new.
    asked: Arc<AtomicU32>,
}

impl Scripted {
    fn new(publication: Arc<Publication>, fates: &[Fate]) -> Self {
        Scripted {
            publication,
            fates: Mutex::new(fates.iter().copied().collect()),
            had: AtomicU32::new(0),
            refused: Arc::default(),
            session: None,
            left: Mutex::default(),
            asked: Arc::default(),
        }
    }
}

struct Subscription {
    waiting: Waiting,
    again: Option<Bytes>,
}

impl Subscriber for Scripted {
    type Subscription = Subscription;

    async fn subscribe(&self, attempt: &mut Attempt) -> Result<Subscription, ExchangeError> {
        sleep(Duration::from_millis(5)).await;
        if self.refused.load(Ordering::Relaxed) {
            return Err(ExchangeError::new("refused"));
        }
        attempt.exchange.local_port = Some(7);
        let left = self.left.lock().expect("unpoisoned").take();
        let is_forgotten = left.zip(self.session).is_some_and(|(left, session)| left.elapsed() > session);
        let mut waiting = self.publication.wait(self.had.load(Ordering::Relaxed));
        if is_forgotten {
            let lost = std::iter::from_fn(|| waiting.try_next()).count();
            self.had.fetch_add(lost as u32, Ordering::Relaxed);
        }
        Ok(Subscription { waiting, again: None })
    }

    async fn open(&self, _attempt: &mut Attempt) -> Result<Subscription, ExchangeError> {
        Ok(Subscription { waiting: self.publication.wait(0), again: None })
    }

    async fn fetch(&self, _subscription: &mut Subscription, after: u32) -> Result<Vec<Bytes>, ExchangeError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(5)).await;
        match self.fates.lock().expect("unpoisoned").pop_front() {
            Some(Fate::Breaks) => Err(ExchangeError::new("broken")),
            _ => self.publication.messages().split(self.publication.poll(after)),
        }
    }

    async fn next(&self, subscription: &mut Subscription) -> Result<Bytes, ExchangeError> {
        loop {
            if let Some(again) = subscription.again.take() {
                return Ok(again);
            }
            let Some(message) = subscription.waiting.next().await else { return std::future::pending().await };
            let fate = self.fates.lock().expect("unpoisoned").pop_front().unwrap_or(Fate::After(0));
            if let Fate::Breaks = fate {
                return Err(ExchangeError::new("broken"));
            }
            self.had.fetch_add(1, Ordering::Relaxed);
            match fate {
                Fate::After(delay) => sleep(Duration::from_millis(delay)).await,
                Fate::Twice => subscription.again = Some(message.clone()),
                Fate::Lost => continue,
                Fate::Wrong => {
                    let mut wrong = message.to_vec();
                    wrong[20] ^= 1;
                    return Ok(wrong.into());
                }
                Fate::Breaks => unreachable!("handled above"),
            }
            return Ok(message);
        }
    }

    async fn close(&self, _subscription: Subscription) {
        *self.left.lock().expect("unpoisoned") = Some(Instant::now());
    }
}

fn workload(messages: u32, subscribers: u32) -> PubSub {
    let arrival = ArrivalSpec::Fixed { rate_hz: 10.0 };
    PubSub { message_bytes: 30, messages, subscribers, arrival, timeout_ns: 300 * MS, wait: Wait::Connected }
}

/// Rows by subscriber and message, and what was said to be ready when.
async fn rows(workload: PubSub, fates: &[&[Fate]]) -> Vec<Exchange> {
    heard(workload, fates, Arc::default()).await.0
}

async fn heard(workload: PubSub, fates: &[&[Fate]], refused: Arc<AtomicBool>) -> (Vec<Exchange>, Option<u64>) {
    let fates = |number: u32| fates.get(number as usize).copied().unwrap_or_default();
    heard_by(workload, |publication, number| Scripted {
        refused: refused.clone(),
        ..Scripted::new(publication, fates(number))
    })
    .await
}

/// The same by subscribers that `make` makes of the server and their number.
async fn heard_by(workload: PubSub, make: impl Fn(Arc<Publication>, u32) -> Scripted) -> (Vec<Exchange>, Option<u64>) {
    let rows = Rows::default();
    let (mut context, _stopper) = context(WorkloadSpec::PubSub(workload), rows.clone());
    let ready_ns = Arc::new(Mutex::new(None));
    let (clock, told) = (context.clock.clone(), ready_ns.clone());
    context.ready = Box::new(move |ports| {
        assert!(ports.is_empty());
        *told.lock().expect("unpoisoned") = Some(clock.now_ns());
    });
    let publication = Publication::new(&context.parameters, context.clock.clone());
    listen(context, |_, number| Ok(make(publication.clone(), number))).await.expect("heard");
    let mut rows = rows.taken();
    rows.sort_by_key(|row| (row.client, row.index));
    let ready_ns = *ready_ns.lock().expect("unpoisoned");
    (rows, ready_ns)
}

fn delays(rows: &[Exchange]) -> Vec<u64> {
    rows.iter().map(|row| (row.end_ns - row.start_ns) / MS).collect()
}

fn outcomes(rows: &[Exchange]) -> Vec<Outcome> {
    rows.iter().map(|row| row.outcome).collect()
}

#[tokio::test(start_paused = true)]
async fn each_subscriber_has_a_row_for_each_message_from_its_publication_to_its_arrival() {
    use Fate::After;
    let (rows, ready_ns) =
        heard(workload(3, 2), &[&[After(1), After(2), After(3)], &[After(0), After(40), After(0)]], Arc::default())
            .await;
    assert_eq!(delays(&rows), [1, 2, 3, 0, 40, 0]);
    assert_eq!(
        rows.iter().map(|row| (row.client, row.index)).collect::<Vec<_>>(),
        [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    );
    assert!(rows.iter().all(|row| row.outcome == Outcome::Completed && copies(row) == Some(1)));
    assert!(rows.iter().all(|row| row.body_received_bytes == 30 && row.local_port == Some(7)));
    assert!(rows.iter().all(|row| row.start_ns == row.intended_start_ns));
    let starts: Vec<_> = rows[..3].iter().map(|row| (row.start_ns - rows[0].start_ns) / MS).collect();
    assert_eq!(starts, [0, 100, 200]);
    assert_eq!(ready_ns, Some(15 * MS), "when both wait");
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_message_completes_once_and_counts_two_copies() {
    let rows = rows(workload(3, 1), &[&[Fate::Twice]]).await;
    assert_eq!(rows.iter().map(copies).collect::<Vec<_>>(), [2, 1, 1].map(Some));
    assert_eq!(outcomes(&rows), [Outcome::Completed; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_lost_or_late_is_timed_out_from_when_it_was_meant_to_be_published() {
    let rows = rows(workload(3, 1), &[&[Fate::Lost, Fate::After(350), Fate::After(0)]]).await;
    assert_eq!(outcomes(&rows), [Outcome::TimedOut, Outcome::TimedOut, Outcome::Completed]);
    assert_eq!(rows.iter().map(copies).collect::<Vec<_>>(), [0, 1, 1].map(Some));
    assert_eq!(delays(&rows)[..2], [300, 300]);
    assert!(rows.iter().all(|row| row.error.is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_wrong_message_fails_with_the_reason() {
    let rows = rows(workload(2, 1), &[&[Fate::Wrong]]).await;
    assert_eq!(outcomes(&rows), [Outcome::Failed, Outcome::Completed]);
    assert!(rows[0].error.as_deref().is_some_and(|error| error.contains("differs")), "{rows:?}");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_breaks_is_made_anew() {
    let rows = rows(workload(2, 1), &[&[Fate::Breaks]]).await;
    assert_eq!(outcomes(&rows), [Outcome::Completed; 2]);
    assert_eq!(delays(&rows), [5, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_subscription_fails_its_messages_in_bounded_time_and_delays_no_other() {
    let (rows, ready_ns) = heard(workload(2, 1), &[], Arc::new(AtomicBool::new(true))).await;
    assert_eq!(outcomes(&rows), [Outcome::Failed; 2]);
    assert_eq!(rows[0].error.as_deref(), Some("subscribing: refused"));
    assert!(ready_ns.is_some_and(|ready_ns| ready_ns < 21_000 * MS), "{ready_ns:?}");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_stays_for_the_gap_after_the_last_message() {
    let fixed = workload(3, 1);
    let bursts = ArrivalSpec::Bursts { interval_ns: 900 * MS, rate_hz: 10.0, duration_ns: 200 * MS };
    let periodic = ArrivalSpec::Periodic { interval_ns: 400 * MS, jitter_ns: 40 * MS };
    for (arrival, ms) in [(fixed.arrival.clone(), 300), (periodic, 1_200), (bursts, 1_800)] {
        let began = Instant::now();
        let rows = rows(PubSub { arrival, ..fixed.clone() }, &[&[Fate::Lost]]).await;
        assert_eq!(outcomes(&rows), [Outcome::TimedOut, Outcome::Completed, Outcome::Completed]);
        assert!(began.elapsed().as_millis() >= ms + 5, "{:?}", began.elapsed());
    }
    let began = Instant::now();
    rows(fixed, &[]).await;
    // It subscribes in 5 ms.
    assert_eq!(began.elapsed().as_millis(), 305);
}

#[tokio::test(start_paused = true)]
async fn when_stopped_only_received_messages_are_recorded() {
    let rows = Rows::default();
    let (context, stopper) = context(WorkloadSpec::PubSub(workload(1_000, 1)), rows.clone());
    let publication = Publication::new(&context.parameters, context.clock.clone());
    tokio::spawn(async move {
        sleep(Duration::from_millis(150)).await;
        stopper.stop();
    });
    listen(context, |_, _| Ok(Scripted::new(publication.clone(), &[]))).await.expect("stopped cleanly");
    assert_eq!(outcomes(&rows.taken()), [Outcome::Completed; 2]);
}

/// Messages every 700 ms, for a subscriber that comes every second.
fn seldom(messages: u32, wait: Wait) -> PubSub {
    let arrival = ArrivalSpec::Periodic { interval_ns: 700 * MS, jitter_ns: 0 };
    PubSub { arrival, timeout_ns: 10_000 * MS, wait, ..workload(messages, 1) }
}

fn check_in(stay_ms: u64) -> Wait {
    Wait::CheckIn { every_ns: 1_000 * MS, stay_ns: stay_ms * MS }
}

const POLL: Wait = Wait::Poll { every_ns: 1_000 * MS };

#[tokio::test(start_paused = true)]
async fn a_device_that_checks_in_gets_what_waited_for_it() {
    let often = PubSub { wait: check_in(50), timeout_ns: 10_000 * MS, ..workload(20, 1) };
    let (rows, ready_ns) = heard(often, &[], Arc::default()).await;
    assert_eq!(outcomes(&rows), [Outcome::Completed; 20]);
    assert!(rows.iter().all(|row| copies(row) == Some(1)));
    assert!(delays(&rows).iter().all(|delay_ms| *delay_ms <= 1_005), "{:?}", delays(&rows));
    assert!(rows[0].end_ns > ready_ns.expect("it was ready"), "the first contact takes nothing");
}

#[tokio::test(start_paused = true)]
async fn a_command_between_two_check_ins_waits_for_the_second() {
    let rows = rows(seldom(6, check_in(1)), &[]).await;
    assert_eq!(outcomes(&rows), [Outcome::Completed; 6]);
    let contacts: Vec<_> = rows.iter().map(|row| (row.end_ns - rows[0].end_ns) / MS % 1_000).collect();
    assert_eq!(contacts, [0; 6], "at instants a second apart");
    assert!(delays(&rows).iter().all(|delay_ms| *delay_ms <= 1_005), "{:?}", delays(&rows));
}

#[tokio::test(start_paused = true)]
async fn subscribers_come_at_phases_of_their_own() {
    let work = PubSub { subscribers: 2, ..seldom(1, check_in(1)) };
    let rows = rows(work, &[]).await;
    assert_eq!(outcomes(&rows), [Outcome::Completed; 2]);
    assert_ne!(rows[0].end_ns, rows[1].end_ns);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_expired_loses_its_commands() {
    for (session_ms, outcome) in [(1_500, Outcome::Completed), (100, Outcome::TimedOut)] {
        let session = Some(Duration::from_millis(session_ms));
        let make = |publication, _| Scripted { session, ..Scripted::new(publication, &[]) };
        let (rows, _) = heard_by(seldom(3, check_in(1)), make).await;
        assert_eq!(outcomes(&rows), [outcome; 3], "{session_ms} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_without_news_ends_at_once() {
    let asked = Arc::new(AtomicU32::new(0));
    let arrival = ArrivalSpec::Periodic { interval_ns: 10_000 * MS, jitter_ns: 0 };
    let make = |publication, _| Scripted { asked: asked.clone(), ..Scripted::new(publication, &[]) };
    let (rows, _) = heard_by(PubSub { arrival, ..seldom(2, POLL) }, make).await;
    assert_eq!(outcomes(&rows), [Outcome::Completed; 2]);
    assert!(delays(&rows).iter().all(|delay_ms| *delay_ms <= 1_005), "{:?}", delays(&rows));
    let asked = asked.load(Ordering::Relaxed);
    assert!((20..=21).contains(&asked), "once a second, and at the start: {asked}");
}

#[tokio::test(start_paused = true)]
async fn a_poll_gets_each_message_once() {
    let rows = rows(PubSub { wait: POLL, timeout_ns: 10_000 * MS, ..workload(30, 1) }, &[]).await;
    assert_eq!(outcomes(&rows), [Outcome::Completed; 30]);
    assert!(rows.iter().all(|row| copies(row) == Some(1)), "{rows:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ended_between_two_polls_is_opened_anew() {
    let rows = rows(seldom(3, POLL), &[&[Fate::After(0), Fate::Breaks]]).await;
    assert_eq!(outcomes(&rows), [Outcome::Completed; 3]);
    assert!(delays(&rows).iter().all(|delay_ms| *delay_ms <= 1_010), "{:?}", delays(&rows));
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_never_reaches_its_server_delays_no_other() {
    let (rows, ready_ns) = heard(seldom(2, check_in(1)), &[], Arc::new(AtomicBool::new(true))).await;
    assert_eq!(outcomes(&rows), [Outcome::Failed; 2]);
    assert_eq!(rows[0].error.as_deref(), Some("subscribing: refused"));
    assert!(ready_ns.is_some_and(|ready_ns| ready_ns < 21_000 * MS), "{ready_ns:?}");
}

#[tokio::test(start_paused = true)]
async fn changes_are_due_at_their_instants_and_a_cancelled_wait_loses_none() {
    let (context, _stopper) = context(WorkloadSpec::PubSub(workload(2, 1)), Rows::default());
    let origin_ns = context.clock.now_ns();
    let mut changes = Changes::new(&context.parameters, context.clock.clone());
    let messages = Messages::new(&context.parameters);
    let first = changes.next().await.expect("a message");
    assert_eq!((messages.read(&first).expect("right"), first.len()), ((0, origin_ns), 30));
    assert!(tokio::time::timeout(Duration::from_millis(50), changes.next()).await.is_err());
    sleep(Duration::from_millis(100)).await;
    let late = changes.next().await.expect("a message");
    assert_eq!(messages.read(&late).expect("right"), (1, origin_ns + 150 * MS), "stamped when given");
    assert_eq!(changes.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_publishes_begins_when_all_wait_or_the_first_has_waited_long_enough() {
    for (subscribers, waits_s) in [(1, 0), (2, 20)] {
        let (context, _stopper) = context(WorkloadSpec::PubSub(workload(2, subscribers)), Rows::default());
        let publication = Publication::new(&context.parameters, context.clock.clone());
        sleep(Duration::from_secs(60)).await;
        let now_ns = context.clock.now_ns();
        let mut waiting = publication.wait(0);
        let first = tokio::time::timeout(2 * PATIENCE, waiting.next()).await.expect("it begins").expect("a message");
        let (_, published_ns) = publication.messages().read(&first).expect("right");
        assert_eq!((published_ns - now_ns) / MS, waits_s * 1_000, "{subscribers}");
    }
}

#[test]
fn a_message_that_differs_in_length_body_or_index_is_refused() {
    let (context, _stopper) = context(WorkloadSpec::PubSub(workload(2, 1)), Rows::default());
    let messages = Messages::new(&context.parameters);
    let right = messages.make(1, 77);
    assert_eq!(messages.read(&right).expect("right"), (1, 77));
    assert!(messages.read(&right[1..]).is_err());
    assert!(messages.read(&messages.make(2, 77)).is_err());
}

fn copies(row: &Exchange) -> Option<u32> {
    row.message().and_then(|columns| columns.copies)
}
