//! Workloads: which kinds there are, what each asks for, and what a client of a protocol does for its driver.

mod backlog;
mod changes;
mod driver;
mod own;
mod pubsub;
mod schedule;
mod waiting;

use std::future::Future;

use wirelab_schema::{
    ArrivalSpec, ConnectionPolicy, PageLoads, PubSub, RequestResponse, SettingDescription, Wait, WorkloadSpec,
};

use crate::StackError;
pub use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings;
pub use changes::{Changes, Messages, POLL_BYTES, Publication, Waiting};
pub use driver::drive;
pub use own::{Own, Reading};
pub use pubsub::{Subscriber, listen};

/// Workload kinds, as descriptors list them.
pub const REQUEST_RESPONSE: &str = "request-response";
/// See [`WorkloadSpec::Telemetry`].
pub const TELEMETRY: &str = "telemetry";
/// See [`WorkloadSpec::PubSub`].
pub const PUBSUB: &str = "pubsub";
/// See [`WorkloadSpec::Stream`].
pub const STREAM: &str = "stream";

/// See [`WorkloadSpec::Page`].
pub const PAGE: &str = "page";

/// Those of messages, which every stack but the echo ones does.
pub const KINDS: [&str; 4] = [REQUEST_RESPONSE, TELEMETRY, PUBSUB, STREAM];

/// What endpoints do, whichever kind of workload says so.
pub enum Work {
    /// Clients ask, by [`drive`].
    Exchanges(RequestResponse),
    /// Clients wait, by [`listen`].
    Changes(PubSub),
    /// A client loads a page.
    Page(PageLoads),
}

impl Work {
    /// `telemetry` is `request-response` with an empty answer, `stream` is `pubsub` at a fixed rate.
    pub fn of(workload: &WorkloadSpec) -> Self {
        match workload.clone() {
            WorkloadSpec::RequestResponse(work) => Work::Exchanges(work),
            WorkloadSpec::Telemetry(work) => Work::Exchanges(RequestResponse {
                upload_bytes: work.message_bytes,
                download_bytes: 0.into(),
                exchanges: work.exchanges,
                clients: work.clients,
                arrival: work.arrival,
                concurrency: work.concurrency,
                timeout_ns: work.timeout_ns,
                connection: work.connection,
                device: work.device,
                retry: work.retry,
                request: None,
            }),
            WorkloadSpec::PubSub(work) => Work::Changes(work),
            WorkloadSpec::Stream(work) => Work::Changes(PubSub {
                message_bytes: work.message_bytes,
                messages: work.messages,
                subscribers: work.subscribers,
                arrival: ArrivalSpec::Fixed { rate_hz: work.rate_hz },
                timeout_ns: work.timeout_ns,
                wait: Wait::Connected,
            }),
            WorkloadSpec::Page(work) => Work::Page(work),
        }
    }

    /// The exchanges of a workload that is known to have them.
    pub fn exchanges(workload: &WorkloadSpec) -> RequestResponse {
        match Work::of(workload) {
            Work::Exchanges(work) => work,
            Work::Changes(_) | Work::Page(_) => panic!("the caller asked which kind it is"),
        }
    }

    /// The changes of a workload that is known to have them.
    pub fn changes(workload: &WorkloadSpec) -> PubSub {
        match Work::of(workload) {
            Work::Changes(work) => work,
            Work::Exchanges(_) | Work::Page(_) => panic!("the caller asked which kind it is"),
        }
    }
}

/// The name of the workload's kind.
pub fn kind(workload: &WorkloadSpec) -> &'static str {
    match workload {
        WorkloadSpec::RequestResponse(_) => REQUEST_RESPONSE,
        WorkloadSpec::Telemetry(_) => TELEMETRY,
        WorkloadSpec::PubSub(_) => PUBSUB,
        WorkloadSpec::Stream(_) => STREAM,
        WorkloadSpec::Page(_) => PAGE,
    }
}

/// The largest body: both ends keep it in memory.
pub const MAX_BODY_BYTES: u64 = 1 << 30;

/// How many bytes `/bytes/N` asks for, where servers have them; none of another path, or of more than there are.
pub(crate) fn bytes_of_path(path: &str) -> Option<usize> {
    let digits = path.strip_prefix("/bytes/").filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().filter(|bytes| *bytes <= MAX_BODY_BYTES as usize)
}

/// Setting `after-timeout`, of stacks whose exchanges share a connection.
pub fn after_timeout_setting() -> SettingDescription {
    settings::choice(
        AFTER_TIMEOUT,
        &["keep", RECONNECT],
        "What a client does with its connection when an exchange on it timed out: `keep` uses it further, `reconnect` closes it without waiting for \
         the server, and the next exchange opens another. With the workload's `retry` every failed attempt closes it.",
    )
}

const AFTER_TIMEOUT: &str = "after-timeout";
const RECONNECT: &str = "reconnect";

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

    /// Waits, for a bounded time, for what peers of closed connections have still to say. It comes last.
    fn end(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Refuses values that make no sense.
pub fn check(workload: &WorkloadSpec) -> Result<(), StackError> {
    let usage = |words: String| Err(StackError::Usage(words));
    let at_least = |key: &str, number: u64, least: u64| match number < least {
        true => usage(format!("`{key}` is {number}, less than {least}")),
        false => Ok(()),
    };
    if let WorkloadSpec::Telemetry(work) = workload {
        at_least("message_bytes", work.message_bytes, 1)?;
        if let Some(message) = &work.publish {
            own::check(message, work.message_bytes).map_err(StackError::Usage)?;
        }
    }
    let (sizes, arrival, timeout_ns) = match Work::of(workload) {
        Work::Exchanges(work) => {
            at_least("clients", work.clients.into(), 1)?;
            at_least("concurrency", work.concurrency.into(), 1)?;
            if let ConnectionPolicy::Persistent { connections } = work.connection {
                at_least("connections", connections.into(), 1)?;
            }
            if matches!(work.arrival, ArrivalSpec::IdleStart { .. }) && (work.clients, work.concurrency) != (1, 1) {
                let (clients, concurrency) = (work.clients, work.concurrency);
                return usage(format!(
                    "`arrival` is idle-start with {clients} `clients` and `concurrency` {concurrency}: it is of one message of one device at a time"
                ));
            }
            if let Some(retry) = &work.retry {
                backlog::check(retry, &work).map_err(StackError::Usage)?;
            }
            if let Some(request) = &work.request {
                Own::read(request, work.upload_bytes).map_err(StackError::Usage)?;
            }
            let sizes = work.download_bytes.sizes();
            at_least("sizes in download_bytes", sizes.len() as u64, 1)?;
            if sizes.len() > 1 && work.upload_bytes > 0 {
                return usage("several `download_bytes` with an upload: the answer to a POST has one size".to_owned());
            }
            ([work.upload_bytes, work.download_bytes.largest()], work.arrival, work.timeout_ns)
        }
        Work::Changes(work) => {
            at_least("messages", work.messages.into(), 1)?;
            at_least("subscribers", work.subscribers.into(), 1)?;
            at_least("message_bytes", work.message_bytes, changes::HEAD_BYTES as u64)?;
            if work.arrival == ArrivalSpec::Closed {
                return usage("`arrival` is closed: nobody says when the next message is to be published".to_owned());
            }
            if matches!(work.arrival, ArrivalSpec::IdleStart { .. }) {
                return usage("`arrival` is idle-start: only a client that sends asks its link to rest".to_owned());
            }
            waiting::check(work.wait).map_err(StackError::Usage)?;
            ([work.message_bytes, 0], work.arrival, work.timeout_ns)
        }
        Work::Page(work) => {
            at_least("loads", work.loads.into(), 1)?;
            ([0, 0], ArrivalSpec::Closed, work.timeout_ns)
        }
    };
    if let Some(bytes) = sizes.into_iter().find(|bytes| *bytes > MAX_BODY_BYTES) {
        return usage(format!("a body of {bytes} bytes, the largest has {MAX_BODY_BYTES}"));
    }
    // Everything would be given up at once.
    at_least("timeout_ns", timeout_ns, 1)?;
    schedule::check(&arrival).map_err(StackError::Usage)
}

#[cfg(test)]
pub(crate) mod virtual_time;
