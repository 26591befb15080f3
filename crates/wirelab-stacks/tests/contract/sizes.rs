//! Downloads whose sizes take turns.

use wirelab_schema::{ConnectionPolicy, DownloadBytes, Exchange, Outcome, RequestResponse};
use wirelab_stacks::StackError;
use wirelab_stacks::workload::REQUEST_RESPONSE;

use crate::lab::{Lab, kept, workload};
use crate::{assert_completed, descriptors, does, echoes};

/// More than HTTP/2's initial window, and many blocks of CoAP; and little.
const SIZES: [u64; 2] = [200_000, 612];

fn in_turn(exchanges: u32) -> RequestResponse {
    RequestResponse { download_bytes: DownloadBytes::InTurn(SIZES.into()), ..workload(0, 0, exchanges) }
}

fn received(mut rows: Vec<Exchange>) -> Vec<u64> {
    rows.sort_by_key(|row| (row.client, row.index));
    rows.iter().map(|row| row.body_received_bytes).collect()
}

#[tokio::test]
async fn each_client_takes_the_sizes_in_turn_also_when_exchanges_overlap() {
    let lab = Lab::new();
    for stack in descriptors(|stack| does(REQUEST_RESPONSE)(stack) && !echoes(stack)) {
        for (connection, concurrency) in [
            (ConnectionPolicy::New, 1),
            (ConnectionPolicy::Persistent { connections: 1 }, 1),
            (ConnectionPolicy::Persistent { connections: 1 }, 3),
            (ConnectionPolicy::Persistent { connections: 2 }, 2),
        ] {
            let work = RequestResponse { connection, concurrency, clients: 2, ..in_turn(3) };
            let what = format!("{} {work:?}", stack.name);
            let rows = lab.exchange(&stack.name, work, &[]).await;
            assert_completed(&rows, 6, &what);
            assert_eq!(received(rows), [SIZES[0], SIZES[1], SIZES[0], SIZES[0], SIZES[1], SIZES[0]], "{what}");
        }
    }
}

#[tokio::test]
async fn a_body_of_either_size_is_checked_byte_for_byte() {
    let mut lab = Lab::new();
    lab.client_seed = 2;
    for stack in descriptors(|stack| does(REQUEST_RESPONSE)(stack) && !echoes(stack)) {
        let rows = lab.exchange(&stack.name, kept(1, in_turn(2)), &[]).await;
        let outcomes: Vec<_> = rows.iter().map(|row| row.outcome).collect();
        assert_eq!(outcomes, [Outcome::Failed; 2], "{}", stack.name);
        assert_eq!(received(rows), SIZES, "{}", stack.name);
    }
}

#[tokio::test]
async fn several_sizes_with_an_upload_are_a_usage_error() {
    let lab = Lab::new();
    for stack in descriptors(does(REQUEST_RESPONSE)) {
        let work = RequestResponse { upload_bytes: 1, ..in_turn(2) };
        let error = lab.run_client(&stack.name, 1, work, &[]).await.expect_err("refused");
        assert!(matches!(error, StackError::Usage(_)), "{}: {error}", stack.name);
    }
}
