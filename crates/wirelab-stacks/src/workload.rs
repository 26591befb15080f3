//! The driver of `request-response`: the arrival process, concurrency, connection policy, time-out and outcome of every exchange, the same for
//! all stacks.
//!
//! An open-loop exchange keeps its intended start when it starts late, so that a stall is not hidden (coordinated omission). An exchange starts
//! when it has one of the `concurrency` places; if it must then wait for a kept connection that carries one exchange at a time, the wait is
//! part of it, as it is for a user.
//!
//! A fresh connection is closed after its exchange has ended: what is said in closing (TLS close_notify, FIN, GOAWAY, CONNECTION_CLOSE) is handed
//! to the kernel before the next exchange starts, and its answers are not waited for. These few small packets share the link with the next
//! exchange's first ones, as they do when a program runs once for each exchange; on a link without a rate limit they delay nothing.

mod schedule;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::sync::Mutex;
use wirelab_schema::{ArrivalSpec, ConnectionPolicy, Exchange, RequestResponse, WorkloadSpec};

pub use crate::attempt::{Attempt, ExchangeError};
use crate::recorder::Recorder;
use crate::{Clock, Context, StackError};
use schedule::Schedule;

/// Workload kind that every stack here does.
pub const REQUEST_RESPONSE: &str = "request-response";

/// The largest body: both ends keep it in memory.
pub const MAX_BODY_BYTES: u64 = 1 << 30;

/// The protocol code of a client: the driver does the rest.
pub trait Client: Send + Sync + 'static {
    /// An open connection, or a handle to one that several exchanges share.
    type Connection: Send + 'static;

    /// Opens a connection, stamping the phases of doing so.
    fn connect(&self, attempt: &mut Attempt) -> impl Future<Output = Result<Self::Connection, ExchangeError>> + Send;

    /// Carries out one exchange. Returning means that the whole response arrived and was right.
    fn exchange(
        &self,
        connection: &mut Self::Connection,
        attempt: &mut Attempt,
    ) -> impl Future<Output = Result<(), ExchangeError>> + Send;

    /// Another handle to the same connection, if exchanges may overlap on it.
    fn share(&self, _connection: &Self::Connection) -> Option<Self::Connection> {
        None
    }

    /// False if the connection is known to have ended.
    fn is_usable(&self, connection: &Self::Connection) -> bool;

    /// Says good-bye without waiting for the peer.
    fn close(&self, connection: Self::Connection) -> impl Future<Output = ()> + Send;
}

/// Refuses values that make no sense.
pub fn check(workload: &WorkloadSpec) -> Result<(), StackError> {
    let WorkloadSpec::RequestResponse(workload) = workload;
    let usage = |words: String| Err(StackError::Usage(words));
    for (key, bytes) in [("upload_bytes", workload.upload_bytes), ("download_bytes", workload.download_bytes)] {
        if bytes > MAX_BODY_BYTES {
            return usage(format!("`{key}` is {bytes}, the largest body has {MAX_BODY_BYTES}"));
        }
    }
    if workload.concurrency == 0 {
        return usage("`concurrency` is 0, at least one exchange must be allowed".to_owned());
    }
    if workload.timeout_ns == 0 {
        return usage("`timeout_ns` is 0, every exchange would be given up".to_owned());
    }
    if let ArrivalSpec::Fixed { rate_hz } | ArrivalSpec::Poisson { rate_hz } = workload.arrival
        && !(rate_hz.is_finite() && rate_hz > 0.0)
    {
        return usage(format!("`rate_hz` is {rate_hz}, not a positive number"));
    }
    if workload.connection == (ConnectionPolicy::Kept { connections: 0 }) {
        return usage("`connections` is 0, at least one connection must be kept".to_owned());
    }
    Ok(())
}

/// Performs the workload with `client` and records every exchange, until done or stopped. Exchanges under way when it is stopped are not recorded.
pub async fn drive<C: Client>(client: C, context: Context) -> Result<(), StackError> {
    let Context { parameters, clock, recorder, mut stop, .. } = context;
    let WorkloadSpec::RequestResponse(workload) = parameters.workload;
    let slots = match workload.connection {
        ConnectionPolicy::Fresh => 0,
        ConnectionPolicy::Kept { connections } => connections,
    };
    let places = workload.concurrency.min(workload.exchanges);
    let driver = Driver {
        schedule: Mutex::new(Schedule::new(&workload, parameters.seed, clock.now_ns())),
        slots: (0..slots).map(|_| Slot::default()).collect(),
        next_slot: AtomicUsize::new(0),
        recorder: Mutex::new(recorder),
        client,
        clock,
        workload,
    };
    let ended = tokio::select! {
        ended = try_join_all((0..places).map(|_| driver.fill_place())) => ended.map(drop),
        () = stop.stopped() => Ok(()),
    };
    driver.finish(ended).await
}

struct Driver<C: Client> {
    client: C,
    workload: RequestResponse,
    clock: Arc<dyn Clock>,
    schedule: Mutex<Schedule>,
    slots: Vec<Slot<C::Connection>>,
    next_slot: AtomicUsize,
    recorder: Mutex<Box<dyn Recorder>>,
}

/// A kept connection, or the place for one.
struct Slot<T> {
    connection: Mutex<Option<T>>,
    users: AtomicU32,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot { connection: Mutex::new(None), users: AtomicU32::new(0) }
    }
}

impl<C: Client> Driver<C> {
    /// Carries out one exchange after another until none is left.
    async fn fill_place(&self) -> Result<(), StackError> {
        loop {
            let Some((index, intended_start_ns)) = self.schedule.lock().await.next() else { return Ok(()) };
            if let Some(instant_ns) = intended_start_ns {
                self.clock.sleep_until(instant_ns).await;
            }
            let attempt = Attempt::start(self.clock.clone(), index, intended_start_ns);
            let (exchange, to_close) = self.carry_out(attempt).await;
            self.recorder.lock().await.record(exchange)?;
            if let Some(connection) = to_close {
                self.client.close(connection).await;
            }
        }
    }

    async fn carry_out(&self, mut attempt: Attempt) -> (Exchange, Option<C::Connection>) {
        let timeout = Duration::from_nanos(self.workload.timeout_ns);
        let ended = tokio::time::timeout(timeout, async {
            match self.workload.connection {
                ConnectionPolicy::Fresh => self.on_fresh_connection(&mut attempt).await.map(Some),
                ConnectionPolicy::Kept { .. } => self.on_kept_connection(&mut attempt).await.map(|()| None),
            }
        });
        match ended.await {
            Ok(Ok(to_close)) => (attempt.finish(Ok(())), to_close),
            Ok(Err(error)) => (attempt.finish(Err(error)), None),
            Err(_) => (attempt.finish(Err(ExchangeError::TimedOut)), None),
        }
    }

    async fn on_fresh_connection(&self, attempt: &mut Attempt) -> Result<C::Connection, ExchangeError> {
        let mut connection = self.client.connect(attempt).await?;
        self.client.exchange(&mut connection, attempt).await?;
        attempt.stamp_end();
        Ok(connection)
    }

    /// A connection that carries one exchange at a time stays out of its slot unless the exchange completed: half a response may be on its way.
    async fn on_kept_connection(&self, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        let (slot, _turn) = self.take_turn();
        let mut place = slot.connection.lock().await;
        let mut connection = match place.take().filter(|connection| self.client.is_usable(connection)) {
            Some(connection) => {
                attempt.exchange.connection_reused = true;
                connection
            }
            None => self.client.connect(attempt).await?,
        };
        if let Some(mut handle) = self.client.share(&connection) {
            *place = Some(connection);
            drop(place);
            self.client.exchange(&mut handle, attempt).await?;
            attempt.stamp_end();
        } else {
            self.client.exchange(&mut connection, attempt).await?;
            attempt.stamp_end();
            *place = Some(connection);
        }
        Ok(())
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

    async fn finish(self, ended: Result<(), StackError>) -> Result<(), StackError> {
        for slot in self.slots {
            if let Some(connection) = slot.connection.into_inner() {
                self.client.close(connection).await;
            }
        }
        // What could not record every row must not call its file complete.
        ended?;
        self.recorder.into_inner().finish()
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
mod tests;
