//! Endpoints in virtual time, for tests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};
use wirelab_schema::{EndpointParameters, Exchange, ResourceTiming, Role, ServerAddress, WorkloadSpec};

use crate::recorder::Recorder;
use crate::{Clock, Context, Received, StackError, Stopper, stop_signal};

/// Nanoseconds of a millisecond.
pub const MS: u64 = 1_000_000;

/// Virtual time: tokio's paused clock, from an arbitrary origin.
pub struct VirtualClock(pub Instant);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        10 * MS + self.0.elapsed().as_nanos() as u64
    }

    fn sleep_until(&self, instant_ns: u64) -> BoxFuture<'static, ()> {
        Box::pin(sleep_until(self.0 + Duration::from_nanos(instant_ns.saturating_sub(10 * MS))))
    }
}

/// Keeps exchanges in memory.
#[derive(Clone, Default)]
pub struct Rows(Arc<Mutex<Vec<Exchange>>>);

impl Rows {
    /// Those recorded so far.
    pub fn taken(&self) -> Vec<Exchange> {
        self.0.lock().expect("unpoisoned").clone()
    }
}

impl Recorder for Rows {
    fn record(&mut self, exchange: Exchange) -> Result<(), StackError> {
        self.0.lock().expect("unpoisoned").push(exchange);
        Ok(())
    }

    fn record_resource(&mut self, _resource: ResourceTiming) -> Result<(), StackError> {
        unreachable!("only `page` has resources");
    }

    fn finish(&mut self) -> Result<(), StackError> {
        Ok(())
    }
}

/// A client's context, and what stops it.
pub fn context(workload: WorkloadSpec, recorder: impl Recorder + 'static) -> (Context, Stopper) {
    let parameters = EndpointParameters {
        schema_version: 1,
        protocol: "scripted".to_owned(),
        role: Role::Client,
        server: ServerAddress { address: [127, 0, 0, 1].into(), port: 1, name: "server.test".to_owned() },
        upstream: None,
        settings: Default::default(),
        workload,
        page: None,
        certificates: None,
        output: Default::default(),
        seed: 1,
    };
    let (stopper, stop) = stop_signal();
    let clock = Arc::new(VirtualClock(Instant::now()));
    (
        Context {
            parameters,
            clock,
            recorder: Box::new(recorder),
            stop,
            ready: Box::new(drop),
            received: Received::default(),
        },
        stopper,
    )
}
