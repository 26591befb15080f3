//! A task that ends when it is dropped. It does no work itself.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;

/// A connection's own task. Dropping it ends the task, and with it the connection, without any good-bye.
pub struct Task(JoinHandle<()>);

impl Task {
    /// Starts `work` on the current runtime.
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Task(tokio::spawn(work))
    }

    /// Waits until it has ended by itself, so that its closing packets leave before the next exchange's first; at most 100 ms.
    pub async fn finish(mut self) {
        let _ = tokio::time::timeout(Duration::from_millis(100), &mut self.0).await;
    }

    /// True once it has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
