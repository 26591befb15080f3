//! What a stack is given to play its role, and how it can fail. It holds no state of a protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;
use wirelab_schema::{EndpointParameters, ProtocolDescription, Role};

use crate::Clock;
use crate::base::received::Received;
use crate::recorder::Recorder;

/// All that a stack is given to play its role.
pub struct Context {
    /// The endpoint's parameter file.
    pub parameters: EndpointParameters,
    /// The only source of time.
    pub clock: Arc<dyn Clock>,
    /// Where a client's exchanges go.
    pub recorder: Box<dyn Recorder>,
    /// Tells when to end early.
    pub stop: Stop,
    /// Called once: by a server when it accepts connections, by [`workload::listen`](crate::workload::listen) when all subscribers wait, by other
    /// clients before their first exchange.
    pub ready: Ready,
    /// Where a server's application notes each message that it has.
    pub received: Received,
}

/// Told by a server which ports it listens on, by purpose.
pub type Ready = Box<dyn FnOnce(BTreeMap<String, u16>) + Send>;

/// A pair: the first asks for the end, the second waits for it.
pub fn stop_signal() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

/// Asks an endpoint to end. Dropping it asks too.
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Ask.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Waits for the request to end.
#[derive(Clone)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Completes once the end was asked for.
    pub async fn stopped(&mut self) {
        // An error means that the stopper is gone, which asks for the end as well.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }
}

/// Why an endpoint ended otherwise than by finishing its work. Failed exchanges are data, not an error.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// It does not do this stack, role, workload or setting (exit code 3).
    #[error("{0}")]
    Unsupported(String),
    /// A parameter cannot be read or is out of range (exit code 2).
    #[error("{0}")]
    Usage(String),
    /// It could not do its work (exit code 1).
    #[error("{0}")]
    Failed(String),
}

impl StackError {
    /// The stack does not have the role.
    pub fn no_role(stack: &ProtocolDescription, role: Role) -> Self {
        StackError::Unsupported(format!("protocol `{}` has no role {role:?}", stack.name))
    }

    /// The stack does not do the workload.
    pub fn no_workload(stack: &ProtocolDescription, kind: &str) -> Self {
        StackError::Unsupported(format!("protocol `{}` does not do the workload `{kind}`", stack.name))
    }

    /// A failure with what was being attempted.
    pub fn failed(doing: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        StackError::Failed(format!("{doing}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dropped_stopper_stops() {
        let (stopper, mut stop) = stop_signal();
        drop(stopper);
        stop.stopped().await;
    }
}
