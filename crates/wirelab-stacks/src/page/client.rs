//! Performs page loads one after another. What is fetched when is decided in `load`.

mod run;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use tokio::sync::mpsc::UnboundedSender;
use wirelab_schema::{Exchange, Extension, PageExtension, ResourceTiming};

use super::load::Load;
use super::manifest::{Page, loads};
use super::{Fetch, Part};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::context::{Stop, stop_signal};
use crate::http::Origin;
use crate::{Clock, Context, StackError};
use run::Run;

/// Performs the workload's loads one after another, each with a client of `make`, so that nothing is remembered from one to the next, and
/// records them, until done or stopped. A load under way when it is stopped is not recorded.
pub async fn load_pages<F: Fetch>(
    mut context: Context,
    origin: Origin,
    make: impl Fn(&Context) -> Result<F, StackError>,
) -> Result<(), StackError> {
    let work = loads(&context.parameters);
    let page = Page::read(&context.parameters)?;
    std::mem::replace(&mut context.ready, Box::new(drop))(BTreeMap::new());
    for index in 0..work.loads {
        let request_delay = Duration::from_nanos(work.request_delay_ns);
        let browser =
            Browser { version: make(&context)?, origin: &origin, clock: context.clock.clone(), request_delay };
        let (exchange, rows) = tokio::select! {
            loaded = browser.load(page.clone(), index, Duration::from_nanos(work.timeout_ns)) => loaded,
            () = context.stop.stopped() => break,
        };
        for row in rows {
            context.recorder.record_resource(row)?;
        }
        context.recorder.record(exchange)?;
    }
    context.recorder.finish()
}

/// Carries out what a [`Load`] says.
struct Browser<'a, F> {
    version: F,
    origin: &'a Origin,
    clock: Arc<dyn Clock>,
    request_delay: Duration,
}

/// What happened to one of the load's connections or fetches.
enum Event<F: Fetch> {
    Connected { connection: usize, made: Box<Made<F>> },
    Heard { fetch: usize, part: Part<F::Promise>, now_ns: u64 },
    Ended { fetch: usize, stamps: Box<Exchange>, connection: Option<(usize, F::Connection)> },
}

/// A connection, or why there is none, and its phases.
struct Made<F: Fetch> {
    attempt: Attempt,
    result: Result<F::Connection, ExchangeError>,
}

/// A connection of the load.
struct Line<C> {
    /// Away while a request that shares it with none is under way.
    connection: Option<C>,
    /// Its phases, and what its transport counts until the load ends.
    attempt: Attempt,
}

impl<F: Fetch> Browser<'_, F> {
    async fn load(self, page: Arc<Page>, index: u32, timeout: Duration) -> (Exchange, Vec<ResourceTiming>) {
        let start_ns = self.clock.now_ns();
        let (canceller, cancelled) = stop_signal();
        let mut run = Run::new(&self, Load::new(page, F::RULES, start_ns), cancelled);
        // What is then still open tells that time was up.
        let _ = tokio::time::timeout(timeout, run.run(false)).await;
        canceller.stop();
        run.run(true).await;
        let Run { load, lines, document, .. } = run;
        let ended = load.finish(self.clock.now_ns());
        let mut exchange = document.unwrap_or_default();
        (exchange.index, exchange.start_ns, exchange.intended_start_ns) = (index, start_ns, start_ns);
        (exchange.end_ns, exchange.outcome, exchange.error) = (ended.end_ns, ended.outcome, ended.error);
        exchange.body_received_bytes = ended.body_bytes;
        let takes_pushes = self.version.takes_pushes();
        exchange.extension = Extension::Page(PageExtension {
            connections: Some(ended.connections),
            pushed_bytes: takes_pushes.then_some(ended.pushed_bytes),
            wasted_pushed_bytes: takes_pushes.then_some(ended.wasted_pushed_bytes),
        });
        let mut rows = ended.rows;
        rows.iter_mut().for_each(|row| row.exchange = index);
        exchange.status = rows[0].status;
        for (number, line) in (0..).zip(lines) {
            let Some(Line { connection, attempt }) = line else { continue };
            let phases = attempt.finish(Ok(()));
            if rows[0].connection == Some(number) {
                (exchange.tcp_connect_ns, exchange.handshake_ns) = (phases.tcp_connect_ns, phases.handshake_ns);
                (exchange.local_port, exchange.resumed) = (phases.local_port, phases.resumed);
                exchange.smoothed_rtt_ns = phases.smoothed_rtt_ns;
            }
            if let Some(retransmissions) = phases.client_retransmissions {
                *exchange.client_retransmissions.get_or_insert(0) += retransmissions;
            }
            if let Some(connection) = connection {
                self.version.close(connection).await;
            }
        }
        (exchange, rows)
    }

    async fn connect(&self, connection: usize, mut cancelled: Stop, events: UnboundedSender<Event<F>>) {
        let mut attempt = Attempt::start(self.clock.clone(), 0, None);
        let result = tokio::select! {
            result = self.version.connect(&mut attempt) => result,
            () = cancelled.stopped() => Err(ExchangeError::TimedOut),
        };
        let _ = events.send(Event::Connected { connection, made: Box::new(Made { attempt, result }) });
    }

    async fn fetch(
        &self,
        fetch: usize,
        (number, mut connection): (usize, F::Connection),
        request: Request<()>,
        mut cancelled: Stop,
        events: UnboundedSender<Event<F>>,
    ) {
        let mut attempt = Attempt::start(self.clock.clone(), 0, None);
        let result = tokio::select! {
            result = async {
                if !self.request_delay.is_zero() {
                    tokio::time::sleep(self.request_delay).await;
                }
                let answer = self.version.send(&mut connection, request, &mut attempt).await?;
                self.read(fetch, answer, &mut attempt, &events).await
            } => result,
            () = cancelled.stopped() => Err(ExchangeError::TimedOut),
        };
        let connection = Some((number, connection));
        let _ = events.send(Event::Ended { fetch, stamps: Box::new(attempt.finish(result)), connection });
    }

    async fn fetch_pushed(
        &self,
        fetch: usize,
        promise: F::Promise,
        mut cancelled: Stop,
        events: UnboundedSender<Event<F>>,
    ) {
        let mut attempt = Attempt::start(self.clock.clone(), 0, None);
        let result = tokio::select! {
            result = self.read(fetch, self.version.pushed(promise), &mut attempt, &events) => result,
            () = cancelled.stopped() => Err(ExchangeError::TimedOut),
        };
        let _ = events.send(Event::Ended { fetch, stamps: Box::new(attempt.finish(result)), connection: None });
    }

    async fn read(
        &self,
        fetch: usize,
        mut answer: F::Answer,
        attempt: &mut Attempt,
        events: &UnboundedSender<Event<F>>,
    ) -> Result<(), ExchangeError> {
        while let Some(part) = self.version.next(&mut answer, attempt).await? {
            let _ = events.send(Event::Heard { fetch, part, now_ns: self.clock.now_ns() });
        }
        attempt.stamp_end();
        Ok(())
    }
}
