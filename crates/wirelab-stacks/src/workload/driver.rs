//! The driver of `request-response` and `telemetry`: the arrival process, concurrency, connection policy, time-out and outcome of every exchange of
//! every client, the same for all stacks. `pubsub` and `stream`, in which clients wait instead of asking, have theirs in [`pubsub`](super::listen).
//!
//! An open-loop exchange keeps its intended start when it starts late, so that a stall is not hidden (coordinated omission). An exchange starts
//! when it has one of the `concurrency` places; if it must then wait for a persistent connection that carries one exchange at a time, the wait is
//! part of it, as it is for a user.
//!
//! A new connection is closed after its exchange has ended: what is said in closing (TLS close_notify, FIN, GOAWAY, CONNECTION_CLOSE) is handed
//! to the kernel before the next exchange starts, and its answers are not waited for. These few small packets share the link with the next
//! exchange's first ones, as they do when a program runs once for each exchange; on a link without a rate limit they delay nothing.
//!
//! In an open loop, persistent connections stay open until the exchange after the last would be due: what happens between two messages, such as
//! keep-alives, happens after the last one as well.
//!
//! With `retry`, a client keeps messages and sends them in order, one at a time ([`retries`]).
//!
//! In an idle start the client closes what it does not keep, and then asks its link to rest. A link that does not rest fails the client.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all, try_join_all};
use tokio::sync::Mutex;
use wirelab_schema::{ConnectionPolicy, Device, Exchange, Extension, Outcome, RequestResponse};

use super::schedule::{Due, Schedule};
use super::{AFTER_TIMEOUT, Client, RECONNECT, Work};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::recorder::Recorder;
use crate::transport::rest::rest;
use crate::{Clock, Context, StackError, registry};

/// How often the exchange that gets a session is tried.
const SESSION_TRIES: u32 = 3;

/// Has the link rest until so many nanoseconds have passed on its clock.
type Rest<'a> = &'a (dyn Fn(u64) -> BoxFuture<'static, Result<(), StackError>> + Send + Sync);

/// Performs the workload with a client of `make` for each of its `clients`, counted from 0: says `ready` before the first exchange, and records
/// every exchange, until done or stopped.
/// Exchanges under way when it is stopped are not recorded.
pub async fn drive<C: Client>(
    context: Context,
    make: impl Fn(&Context, u32) -> Result<C, StackError>,
) -> Result<(), StackError> {
    let server = context.parameters.server.address;
    drive_over(context, make, &move |gap_ns| Box::pin(rest(server, gap_ns))).await
}

/// The same over a link that rests so.
async fn drive_over<C: Client>(
    context: Context,
    make: impl Fn(&Context, u32) -> Result<C, StackError>,
    rest: Rest<'_>,
) -> Result<(), StackError> {
    let workload = Work::exchanges(&context.parameters.workload);
    let clients: Vec<C> = (0..workload.clients).map(|client| make(&context, client)).collect::<Result<_, _>>()?;
    let is_answered = registry::unanswered(&context.parameters).is_none();
    let chosen = context.parameters.settings.get(AFTER_TIMEOUT);
    let reconnects = workload.retry.is_some() || chosen.is_some_and(|chosen| chosen == RECONNECT);
    let Context { parameters, clock, recorder, mut stop, ready, .. } = context;
    let slots = match workload.connection {
        ConnectionPolicy::New | ConnectionPolicy::Resumed => 0,
        ConnectionPolicy::Persistent { connections } => connections,
    };
    let places = workload.concurrency.min(workload.exchanges);
    let recorder = Mutex::new(recorder);
    let of_client = |(client, number)| Driver {
        number,
        seed: parameters.seed,
        schedule: Mutex::default(),
        slots: (0..slots).map(|_| Slot::default()).collect(),
        next_slot: AtomicUsize::new(0),
        recorder: &recorder,
        client,
        clock: clock.clone(),
        workload: &workload,
        device: workload.device.unwrap_or_default(),
        is_answered,
        reconnects,
        rest,
        began_ns: AtomicU64::new(0),
    };
    let drivers: Vec<_> = clients.into_iter().zip(0..).map(of_client).collect();
    let all_places = || drivers.iter().flat_map(|driver| (0..places).map(move |_| driver));
    let work = async {
        if workload.connection == ConnectionPolicy::Resumed {
            join_all(all_places().map(Driver::get_session)).await;
        }
        ready(BTreeMap::new());
        let origin_ns = clock.now_ns();
        for driver in &drivers {
            let (seed, client) = (driver.seed, driver.number);
            let schedule = Schedule::new(&workload.arrival, workload.exchanges, seed, client, origin_ns);
            *driver.schedule.lock().await = Some(schedule.on(&driver.device, seed, client));
        }
        try_join_all(drivers.iter().map(|driver| driver.perform(places))).await.map(drop)
    };
    let ended = tokio::select! {
        ended = work => ended,
        () = stop.stopped() => Ok(()),
    };
    join_all(drivers.into_iter().map(Driver::finish)).await;
    // What could not record every row must not call its file complete.
    ended?;
    recorder.into_inner().finish()
}

/// One client's part.
struct Driver<'a, C: Client> {
    client: C,
    number: u32,
    seed: u64,
    workload: &'a RequestResponse,
    device: Device,
    clock: Arc<dyn Clock>,
    /// There once the work begins.
    schedule: Mutex<Option<Schedule>>,
    slots: Vec<Slot<C::Connection>>,
    next_slot: AtomicUsize,
    recorder: &'a Mutex<Box<dyn Recorder>>,
    /// Something answers an exchange: one that nothing answers is only sent.
    is_answered: bool,
    /// It closes a connection on which an exchange timed out, or with `retry` failed in any way.
    reconnects: bool,
    rest: Rest<'a>,
    /// When the last exchange began; 0 before the first.
    began_ns: AtomicU64,
}

/// A persistent connection, or the place for one.
struct Slot<T> {
    kept: Mutex<Option<Kept<T>>>,
    users: AtomicU32,
}

struct Kept<T> {
    connection: T,
    /// An exchange on it timed out, or with `retry` failed in any way.
    unanswered: Arc<AtomicBool>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot { kept: Mutex::new(None), users: AtomicU32::new(0) }
    }
}

impl<C: Client> Driver<'_, C> {
    /// Carries out everything, in so many places.
    async fn perform(&self, places: u32) -> Result<(), StackError> {
        match &self.workload.retry {
            Some(retry) => self.send_in_order(retry).await?,
            None => try_join_all((0..places).map(|_| self.fill_place())).await.map(drop)?,
        }
        self.last_gap().await
    }

    /// Carries out one exchange after another until none is left.
    async fn fill_place(&self) -> Result<(), StackError> {
        let begin_ns = self.schedule.lock().await.as_ref().map_or(0, Schedule::origin_ns);
        if self.device.start_phase_ns > 0 {
            self.clock.sleep_until(begin_ns).await;
        }
        loop {
            let next = self.schedule.lock().await.as_mut().and_then(Schedule::next);
            let Some((index, due)) = next else { return Ok(()) };
            let (intended_start_ns, place_ns) = match due {
                Due::Now => (None, None),
                Due::At(instant_ns) => {
                    let free_ns = self.clock.now_ns();
                    self.clock.sleep_until(instant_ns).await;
                    (Some(instant_ns), Some(free_ns))
                }
                Due::AfterRest { interval_ns } => {
                    self.rest(interval_ns).await?;
                    (None, None)
                }
            };
            let mut attempt = self.begin(index, intended_start_ns);
            attempt.exchange.client = self.number;
            let (mut exchange, to_close) = self.carry_out(attempt).await;
            if let Extension::Request(columns) = &mut exchange.extension {
                columns.place_ns = place_ns;
            }
            self.recorder.lock().await.record(self.judged(exchange))?;
            if let Some(connection) = to_close {
                self.client.close(connection).await;
            }
        }
    }

    /// What nothing answers is only sent.
    fn judged(&self, exchange: Exchange) -> Exchange {
        let is_sent = exchange.outcome == Outcome::Completed && !self.is_answered;
        Exchange { outcome: if is_sent { Outcome::Sent } else { exchange.outcome }, ..exchange }
    }

    fn begin(&self, index: u32, intended_start_ns: Option<u64>) -> Attempt {
        let attempt = Attempt::start(self.clock.clone(), index, intended_start_ns);
        self.began_ns.store(attempt.exchange.start_ns, Ordering::Relaxed);
        attempt
    }

    /// Has the link rest until an interval has passed since the last exchange began, if there was one.
    async fn rest(&self, interval_ns: u64) -> Result<(), StackError> {
        let began_ns = self.began_ns.load(Ordering::Relaxed);
        let gap_ns = began_ns.saturating_add(interval_ns).saturating_sub(self.clock.now_ns());
        if began_ns > 0 && gap_ns > 0 { (self.rest)(gap_ns).await } else { Ok(()) }
    }

    /// Waits until the gap after the last exchange is over, and closes what is open, whatever other clients still do. The link rests through the
    /// gap if a connection is still to be closed then.
    async fn last_gap(&self) -> Result<(), StackError> {
        let schedule = self.schedule.lock().await;
        let (end_ns, rest_ns) = schedule.as_ref().map(|each| (each.end_ns(), each.rest_ns())).unwrap_or_default();
        if let Some(end_ns) = end_ns {
            self.clock.sleep_until(end_ns).await;
            self.close_all().await;
        }
        match rest_ns {
            Some(interval_ns) if !self.slots.is_empty() => self.rest(interval_ns).await,
            _ => Ok(()),
        }
    }

    /// One exchange that is not recorded: with its answer comes the session that the first recorded one resumes. If none completes, that one
    /// shows it in `resumed`.
    async fn get_session(&self) {
        for _ in 0..SESSION_TRIES {
            let (exchange, to_close) = self.carry_out(self.begin(0, None)).await;
            if let Some(connection) = to_close {
                self.client.close(connection).await;
            }
            if exchange.outcome == Outcome::Completed {
                return;
            }
        }
    }

    async fn carry_out(&self, mut attempt: Attempt) -> (Exchange, Option<C::Connection>) {
        let timeout = Duration::from_nanos(self.workload.timeout_ns);
        let ended = tokio::time::timeout(timeout, async {
            match self.workload.connection {
                ConnectionPolicy::New | ConnectionPolicy::Resumed => {
                    self.on_fresh_connection(&mut attempt).await.map(Some)
                }
                ConnectionPolicy::Persistent { .. } => self.on_kept_connection(&mut attempt).await.map(|()| None),
            }
        });
        match ended.await {
            Ok(Ok(to_close)) => (attempt.finish(Ok(())), to_close),
            Ok(Err(error)) => (attempt.finish(Err(error)), None),
            Err(_) => (attempt.finish(Err(ExchangeError::TimedOut)), None),
        }
    }

    async fn on_fresh_connection(&self, attempt: &mut Attempt) -> Result<C::Connection, ExchangeError> {
        let mut connection = self.connect(attempt).await?;
        self.exchange(&mut connection, attempt).await?;
        attempt.stamp_end();
        Ok(connection)
    }

    /// A connection that carries one exchange at a time stays out of its slot unless the exchange completed: half a response may be on its way.
    async fn on_kept_connection(&self, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        let (slot, _turn) = self.take_turn();
        let mut place = slot.kept.lock().await;
        let mut kept = match place.take().filter(|kept| self.is_usable(kept)) {
            Some(kept) => {
                attempt.exchange.connection_reused = true;
                kept
            }
            None => Kept { connection: self.connect(attempt).await?, unanswered: Arc::default() },
        };
        if let Some(mut handle) = self.client.share(&kept.connection) {
            let retries = self.workload.retry.is_some();
            let unanswered = Unanswered { connection: kept.unanswered.clone(), retries, answered: false };
            *place = Some(kept);
            drop(place);
            let exchanged = self.exchange(&mut handle, attempt).await;
            unanswered.end(&exchanged);
            exchanged?;
            attempt.stamp_end();
        } else {
            self.exchange(&mut kept.connection, attempt).await?;
            attempt.stamp_end();
            *place = Some(kept);
        }
        Ok(())
    }

    async fn connect(&self, attempt: &mut Attempt) -> Result<C::Connection, ExchangeError> {
        self.compute(self.device.handshake_ns).await;
        self.client.connect(attempt).await
    }

    async fn exchange(&self, connection: &mut C::Connection, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        self.compute(self.device.message_ns).await;
        self.client.exchange(connection, attempt).await
    }

    /// As long as the device needs for it.
    async fn compute(&self, nanoseconds: u64) {
        if nanoseconds > 0 {
            self.clock.sleep_until(self.clock.now_ns().saturating_add(nanoseconds)).await;
        }
    }

    fn is_usable(&self, kept: &Kept<C::Connection>) -> bool {
        let is_given_up = self.reconnects && kept.unanswered.load(Ordering::Relaxed);
        !is_given_up && self.client.is_usable(&kept.connection)
    }

    /// The slot with the fewest exchanges under way; among equals the one after the last taken.
    fn take_turn(&self) -> (&Slot<C::Connection>, Turn<'_>) {
        let first = self.next_slot.load(Ordering::Relaxed);
        let order = (0..self.slots.len()).map(|offset| (first + offset) % self.slots.len());
        let index = order.min_by_key(|index| self.slots[*index].users.load(Ordering::Relaxed)).expect("checked: not 0");
        self.next_slot.store(index + 1, Ordering::Relaxed);
        let slot = &self.slots[index];
        slot.users.fetch_add(1, Ordering::Relaxed);
        (slot, Turn(&slot.users))
    }

    async fn close_all(&self) {
        for slot in &self.slots {
            if let Some(kept) = slot.kept.lock().await.take() {
                self.client.close(kept.connection).await;
            }
        }
    }

    async fn finish(self) {
        self.close_all().await;
        self.client.end().await;
    }
}

/// An exchange on a connection: one that is given up, by the driver or by its protocol, marks it. If the client retries, any error does.
struct Unanswered {
    connection: Arc<AtomicBool>,
    retries: bool,
    answered: bool,
}

impl Unanswered {
    fn end<T>(mut self, exchanged: &Result<T, ExchangeError>) {
        self.answered = match exchanged {
            Ok(_) => true,
            Err(ExchangeError::GaveUp(_) | ExchangeError::TimedOut) => false,
            Err(_) => !self.retries,
        };
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if !self.answered {
            self.connection.store(true, Ordering::Relaxed);
        }
    }
}

/// Counts as a user of a slot until dropped.
struct Turn<'a>(&'a AtomicU32);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod rest_tests;
mod retries;
#[cfg(test)]
mod retry_tests;
#[cfg(test)]
mod tests;
