//! Stacks with a proxy: it says to clients what an HTTP/1.1 server says to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::oneshot;
use wirelab_schema::{Exchange, Outcome, Role, ServerAddress};
use wirelab_stacks::{Context, Received, StackError, SystemClock, stop_signal};

use crate::lab::{Lab, PATIENCE, Rows, Settings, kept, workload};
use crate::{assert_completed, descriptors};

const ORIGIN: &str = "http1";

/// The rows of a client and of the proxy that it asked.
async fn through(
    lab: &Lab,
    stack: &str,
    origin: u16,
    work: wirelab_schema::RequestResponse,
    settings: Settings<'_>,
) -> [Vec<Exchange>; 2] {
    let (stopper, stop) = stop_signal();
    let (sender, port) = oneshot::channel();
    let mut parameters = lab.parameters(stack, Role::Proxy, 0, work.clone(), settings);
    parameters.upstream = Some(ServerAddress { port: origin, ..parameters.server.clone() });
    let rows = Rows::default();
    let context = Context {
        parameters,
        clock: Arc::new(SystemClock),
        recorder: Box::new(rows.clone()),
        stop,
        ready: Box::new(move |ports: BTreeMap<String, u16>| sender.send(ports["main"]).expect("the test waits")),
        received: Received::default(),
    };
    let proxy = tokio::spawn(wirelab_stacks::run(context));
    let asked = lab.run_client(stack, port.await.expect("it gets ready"), work, settings).await.expect("it asks");
    stopper.stop();
    let ended = tokio::time::timeout(PATIENCE, proxy).await.expect("the proxy ends when stopped");
    ended.expect("no panic").expect("a clean end");
    [asked, rows.taken()]
}

fn proxied() -> Vec<String> {
    descriptors(|stack| stack.roles.contains(&Role::Proxy)).into_iter().map(|stack| stack.name).collect()
}

#[tokio::test]
async fn the_origins_response_reaches_the_client_byte_exact() {
    let lab = Lab::new();
    for stack in proxied() {
        for (upload, download) in [(0, 1), (30, 0), (3_500, 30), (30, 3_500)] {
            let work = kept(1, workload(upload, download, 5));
            let origin = lab.serve(ORIGIN, work.clone(), &[]).await;
            let [asked, proxy] = through(&lab, &stack, origin.port, work, &[]).await;
            assert_completed(&asked, 5, &stack);
            assert_completed(&proxy, 5, &stack);
            for row in &proxy {
                let instants = [Some(row.start_ns), row.request_start_ns, row.first_response_byte_ns, Some(row.end_ns)];
                assert!(instants.iter().all(Option::is_some) && instants.is_sorted(), "{stack}: {row:?}");
            }
            // Both processes read one clock: the proxy's time is a part of the client's.
            assert!(
                asked.iter().zip(&proxy).all(|(own, part)| own.start_ns < part.start_ns && part.end_ns < own.end_ns)
            );
            assert_eq!(proxy.iter().filter(|row| !row.connection_reused).count(), 1, "{stack}");
            origin.stop().await;
        }
    }
}

#[tokio::test]
async fn a_caching_proxy_requests_a_fresh_resource_once() {
    let lab = Lab::new();
    for stack in proxied() {
        for (upload, asks) in [(0, 1), (30, 5)] {
            let work = kept(1, workload(upload, 100, 5));
            let origin = lab.serve(ORIGIN, work.clone(), &[]).await;
            let [asked, proxy] = through(&lab, &stack, origin.port, work, &[("cache", json!(true))]).await;
            assert_completed(&asked, 5, &stack);
            assert_eq!(proxy.iter().filter(|row| row.request_start_ns.is_some()).count(), asks, "{stack}");
            origin.stop().await;
        }
    }
}

#[tokio::test]
async fn a_proxy_without_an_origin_answers_bad_gateway() {
    let lab = Lab::new();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number").port();
    for stack in proxied() {
        let [asked, proxy] = through(&lab, &stack, nobody, workload(0, 10, 2), &[]).await;
        assert!(
            asked.iter().all(|row| row.outcome == Outcome::Failed && row.status == Some(502)),
            "{stack}: {asked:?}"
        );
        assert!(proxy.iter().all(|row| row.outcome == Outcome::Failed), "{stack}: {proxy:?}");
    }
}

#[tokio::test]
async fn a_proxy_of_nothing_is_a_usage_error() {
    let lab = Lab::new();
    for stack in proxied() {
        let (mut context, _stopper, _) = lab.client_context(&stack, 0, workload(0, 10, 1), &[]);
        context.parameters.role = Role::Proxy;
        let refusal = wirelab_stacks::run(context).await.expect_err("refused");
        assert!(matches!(refusal, StackError::Usage(_)), "{stack}: {refusal}");
    }
}
