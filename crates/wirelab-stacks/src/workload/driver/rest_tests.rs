//! Tests: idle starts in virtual time, over a link that rests at once or not at all.

use std::sync::Mutex as StdMutex;

use tokio::time::sleep;
use wirelab_schema::{ArrivalSpec, WorkloadSpec};

use super::super::check;
use super::super::virtual_time::{MS, Rows, context};
use super::tests::{Scripted, answers, spans, workload};
use super::*;

const MINUTE: u64 = 60_000 * MS;

/// A request to rest: how many connections had been closed, and for how long.
type Asked = (u32, u64);

fn idle(exchanges: u32) -> RequestResponse {
    RequestResponse { arrival: ArrivalSpec::IdleStart { interval_ns: MINUTE }, ..workload(exchanges) }
}

/// The rows of a client whose link takes 2 s to rest, and what it was asked for.
async fn rested(workload: RequestResponse, client: Scripted) -> (Vec<Exchange>, Vec<Asked>) {
    let (rows, asked, closed) = (Rows::default(), Arc::new(StdMutex::new(Vec::new())), client.closed.clone());
    let (context, _stopper) = context(WorkloadSpec::RequestResponse(workload), rows.clone());
    let requests = asked.clone();
    let rest = move |gap_ns: u64| -> BoxFuture<'static, Result<(), StackError>> {
        requests.lock().expect("unpoisoned").push((closed.load(Ordering::Relaxed), gap_ns / MS));
        Box::pin(async {
            sleep(Duration::from_secs(2)).await;
            Ok(())
        })
    };
    drive_over(context, |_, _| Ok(client.clone()), &rest).await.expect("driven");
    let asked = asked.lock().expect("unpoisoned").clone();
    (rows.taken(), asked)
}

#[tokio::test(start_paused = true)]
async fn a_client_closes_its_connection_and_rests_for_what_is_left_of_the_interval() {
    let (rows, asked) = rested(idle(3), answers(&[Some(10), Some(80)])).await;
    assert_eq!(spans(&rows), [(0, 15), (2_016, 2_101), (4_102, 4_117)]);
    // Closing takes 1 ms; there is nothing to close after the last gap.
    assert_eq!(asked, [(1, 60_000 - 16), (2, 60_000 - 86)]);
    assert!(rows.iter().all(|row| row.intended_start_ns == row.start_ns));
}

#[tokio::test(start_paused = true)]
async fn the_gap_after_the_last_exchange_comes_before_a_persistent_connection_is_closed() {
    let connection = ConnectionPolicy::Persistent { connections: 1 };
    let (rows, asked) = rested(RequestResponse { connection, ..idle(2) }, Scripted::default()).await;
    assert_eq!(spans(&rows), [(0, 15), (2_015, 2_025)]);
    assert_eq!(asked, [(0, 60_000 - 15), (0, 60_000 - 10)]);
}

#[tokio::test(start_paused = true)]
async fn the_exchange_that_resumes_a_session_starts_from_an_idle_link() {
    let connection = ConnectionPolicy::Resumed;
    let (rows, asked) = rested(RequestResponse { connection, ..idle(1) }, Scripted::default()).await;
    assert_eq!((rows.len(), asked), (1, vec![(1, 60_000 - 16)]));
}

#[tokio::test(start_paused = true)]
async fn an_exchange_that_took_longer_than_the_interval_is_followed_at_once() {
    let slow = RequestResponse { timeout_ns: 3 * MINUTE, ..idle(2) };
    let (rows, asked) = rested(slow, answers(&[Some(70_000)])).await;
    assert_eq!(spans(&rows), [(0, 70_005), (70_006, 70_021)]);
    assert!(asked.is_empty(), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_link_that_does_not_rest_fails_the_client_with_the_rows_so_far() {
    let rows = Rows::default();
    let (context, _stopper) = context(WorkloadSpec::RequestResponse(idle(3)), rows.clone());
    let busy = |_: u64| -> BoxFuture<'static, Result<(), StackError>> {
        Box::pin(async { Err(StackError::Failed("busy".to_owned())) })
    };
    let error = drive_over(context, |_, _| Ok(Scripted::default()), &busy).await.expect_err("it does not rest");
    assert_eq!((error.to_string().as_str(), rows.taken().len()), ("busy", 1));
}

#[test]
fn an_idle_start_is_of_one_device_with_one_message_at_a_time() {
    let check = |work: RequestResponse| check(&work.into()).map_err(|error| error.to_string());
    assert_eq!(check(idle(3)), Ok(()));
    let never = ArrivalSpec::IdleStart { interval_ns: 0 };
    let wrong = [
        RequestResponse { clients: 5, ..idle(3) },
        RequestResponse { concurrency: 4, ..idle(3) },
        RequestResponse { arrival: never.clone(), ..idle(3) },
    ];
    assert!(wrong.into_iter().all(|work| check(work).is_err()));
    let arrival = ArrivalSpec::IdleStart { interval_ns: 1 };
    let heard = wirelab_schema::PubSub {
        message_bytes: 12,
        messages: 1,
        subscribers: 1,
        arrival,
        timeout_ns: 1,
        wait: Default::default(),
    };
    assert!(super::super::check(&heard.into()).is_err());
}
