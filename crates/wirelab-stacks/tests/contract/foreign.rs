//! Foreign clients, run once for each exchange; here a shell plays them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use wirelab_schema::{DownloadBytes, Exchange, Outcome, RequestResponse, Role};
use wirelab_stacks::StackError;
use wirelab_stacks::exec::{PerExchange, run};

use crate::lab::{Lab, PATIENCE, kept, workload};

/// Rows of a workload whose client is a shell script.
pub async fn exchange(lab: &Lab, script: &str, work: RequestResponse) -> Result<Vec<Exchange>, StackError> {
    let (context, _stopper, rows) = lab.client_context("http1", 8080, work, &[]);
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let template = PerExchange { command, timed_out_exit_codes: vec![28] };
    tokio::time::timeout(PATIENCE, run(context, template)).await.expect("the client ends")?;
    Ok(rows.taken())
}

#[tokio::test]
async fn the_clients_report_of_its_exchange_is_recorded() {
    let script =
        r#"echo '{"tcp_connect_s": 0.001, "handshake_s": 0, "status": 200, "body_received_bytes": 7, "end_s": 0.5}'"#;
    let rows = exchange(&Lab::new(), script, workload(30, 7, 2)).await.expect("done");
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row.outcome, Outcome::Completed, "{row:?}");
        assert_eq!((row.tcp_connect_ns, row.handshake_ns), (Some(row.start_ns + 1_000_000), None));
        assert_eq!(row.end_ns, row.start_ns + 500_000_000);
    }
}

#[tokio::test]
async fn placeholders_are_filled_in_and_the_upload_file_exists() {
    let script = r#"[ "$(stat -c %s {upload_file})" = 30 ] || exit 9
        [ {url} = http://server.test:8080/upload ] || exit 8
        [ {method}-{scheme}-{address}-{timeout_s}-{download_bytes} = POST-http-127.0.0.1-30-7 ] || exit 7
        echo '{}'"#;
    let rows = exchange(&Lab::new(), script, workload(30, 7, 1)).await.expect("done");
    assert_eq!(rows[0].outcome, Outcome::Completed, "{:?}", rows[0]);
}

#[tokio::test]
async fn each_exchange_has_the_next_size_of_the_list_and_is_checked_against_it() {
    let sizes = DownloadBytes::InTurn(vec![7_000, 6]);
    let work = RequestResponse { download_bytes: sizes, ..workload(0, 0, 3) };
    let script = r#"[ {url} = http://server.test:8080/bytes/{download_bytes} ] || exit 8
        echo '{"body_received_bytes": {download_bytes}}'"#;
    let rows = exchange(&Lab::new(), script, work.clone()).await.expect("done");
    let received: Vec<_> = rows.iter().map(|row| (row.outcome, row.body_received_bytes)).collect();
    assert_eq!(received, [7_000, 6, 7_000].map(|bytes| (Outcome::Completed, bytes)));
    let rows = exchange(&Lab::new(), r#"echo '{"body_received_bytes": 6}'"#, work).await.expect("done");
    let outcomes: Vec<_> = rows.iter().map(|row| row.outcome).collect();
    assert_eq!(outcomes, [Outcome::Failed, Outcome::Completed, Outcome::Failed]);
}

#[tokio::test]
async fn an_exit_code_fails_the_exchange_or_times_it_out_and_keeps_its_phases() {
    let lab = Lab::new();
    let failed = exchange(&lab, r#"echo '{"tcp_connect_s": 0.001}'; echo no luck >&2; exit 7"#, workload(30, 0, 1));
    let row = &failed.await.expect("done")[0];
    assert_eq!((row.outcome, row.tcp_connect_ns.is_some()), (Outcome::Failed, true));
    assert!(row.error.as_deref().is_some_and(|error| error.contains("7") && error.contains("no luck")), "{row:?}");
    let timed_out = exchange(&lab, "exit 28", workload(30, 0, 1)).await.expect("done");
    assert_eq!((timed_out[0].outcome, &timed_out[0].error), (Outcome::TimedOut, &None));
}

#[tokio::test]
async fn an_exchange_that_the_client_does_not_do_is_unsupported_and_not_failed() {
    let script = r#"echo '{"outcome": "unsupported", "error": "no uploads"}'"#;
    let rows = exchange(&Lab::new(), script, workload(30, 0, 1)).await.expect("done");
    assert_eq!((rows[0].outcome, rows[0].error.as_deref()), (Outcome::Unsupported, Some("no uploads")));
}

#[tokio::test]
async fn an_unreadable_report_fails_the_exchange_with_its_text() {
    let rows = exchange(&Lab::new(), "echo gibberish", workload(30, 0, 1)).await.expect("done");
    assert_eq!(rows[0].outcome, Outcome::Failed);
    assert!(rows[0].error.as_deref().is_some_and(|error| error.contains("gibberish")), "{:?}", rows[0]);
}

#[tokio::test]
async fn a_client_that_hangs_is_ended_at_the_time_out() {
    let lab = Lab::new();
    let work = RequestResponse { timeout_ns: 300_000_000, ..workload(30, 0, 1) };
    let rows = exchange(&lab, "echo $$ > pid; exec sleep 1000", work.clone()).await.expect("done");
    assert_eq!(rows[0].outcome, Outcome::TimedOut);
    let pid =
        fs::read_to_string(lab.parameters("http1", Role::Client, 1, work, &[]).output.join("pid")).expect("started");
    let process = Path::new("/proc").join(pid.trim());
    for _ in 0..500 {
        if !process.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} is still there", process.display());
}

#[tokio::test]
async fn a_persistent_connection_or_the_role_of_a_server_is_unsupported() {
    let lab = Lab::new();
    let error = exchange(&lab, "echo '{}'", kept(1, workload(30, 0, 1))).await.expect_err("refused");
    assert!(matches!(error, StackError::Unsupported(_)));
    let (mut context, _stopper, _rows) = lab.client_context("http1", 8080, workload(30, 0, 1), &[]);
    context.parameters.role = Role::Server;
    let template = PerExchange { command: vec!["true".to_owned()], timed_out_exit_codes: vec![] };
    assert!(matches!(run(context, template).await, Err(StackError::Unsupported(_))));
}
