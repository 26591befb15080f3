//! Tests: subscribers, under delays, loss and refusals.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use tokio::time::{Instant, sleep};
use wirelab_schema::{ArrivalSpec, Exchange, Outcome, WorkloadSpec};

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
        let waiting = self.publication.wait(self.had.load(Ordering::Relaxed));
        Ok(Subscription { waiting, again: None })
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

    async fn close(&self, _subscription: Subscription) {}
}

fn workload(messages: u32, subscribers: u32) -> PubSub {
    let arrival = ArrivalSpec::Fixed { rate_hz: 10.0 };
    PubSub { message_bytes: 30, messages, subscribers, arrival, timeout_ns: 300 * MS }
}

/// Rows by subscriber and message, and what was said to be ready when.
async fn rows(workload: PubSub, fates: &[&[Fate]]) -> Vec<Exchange> {
    heard(workload, fates, Arc::default()).await.0
}

async fn heard(workload: PubSub, fates: &[&[Fate]], refused: Arc<AtomicBool>) -> (Vec<Exchange>, Option<u64>) {
    let rows = Rows::default();
    let (mut context, _stopper) = context(WorkloadSpec::PubSub(workload), rows.clone());
    let ready_ns = Arc::new(Mutex::new(None));
    let (clock, told) = (context.clock.clone(), ready_ns.clone());
    context.ready = Box::new(move |ports| {
        assert!(ports.is_empty());
        *told.lock().expect("unpoisoned") = Some(clock.now_ns());
    });
    let publication = Publication::new(&context.parameters, context.clock.clone());
    let subscriber = |_: &Context, number: u32| {
        Ok(Scripted {
            publication: publication.clone(),
            fates: Mutex::new(fates.get(number as usize).copied().unwrap_or_default().iter().copied().collect()),
            had: AtomicU32::new(0),
            refused: refused.clone(),
        })
    };
    listen(context, subscriber).await.expect("heard");
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
    let subscriber = |_: &Context, _| {
        let (fates, had, refused) = Default::default();
        Ok(Scripted { publication: publication.clone(), fates, had, refused })
    };
    listen(context, subscriber).await.expect("stopped cleanly");
    assert_eq!(outcomes(&rows.taken()), [Outcome::Completed; 2]);
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
