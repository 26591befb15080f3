//! Sockets of closed connections whose peers have still something to say. One that was closed before would answer it with ICMP, also after the
//! endpoint's last exchange, so a client waits for them at its end.

use std::future::Future;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::task::JoinHandle;

/// How long a client waits at its end: a peer's last datagram may be lost.
const END_WAIT: Duration = Duration::from_secs(1);

/// Those of a client.
#[derive(Clone, Default)]
pub struct Lingering(Arc<Mutex<Vec<JoinHandle<()>>>>);

impl Lingering {
    /// Lets a socket live in `work` until that is done.
    pub fn keep(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut sockets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sockets.retain(|socket| !socket.is_finished());
        sockets.push(tokio::spawn(work));
    }

    /// Waits until all of them are closed, at most one second.
    pub async fn closed(&self) {
        let sockets = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if !sockets.is_empty() {
            let _ = tokio::time::timeout(END_WAIT, join_all(sockets)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_waits_for_the_last_socket_and_not_longer() {
        let (sockets, start) = (Lingering::default(), Instant::now());
        sockets.keep(sleep(Duration::from_millis(100)));
        sockets.keep(sleep(Duration::from_millis(300)));
        sockets.closed().await;
        assert_eq!(start.elapsed(), Duration::from_millis(300));
        sockets.closed().await;
        assert_eq!(start.elapsed(), Duration::from_millis(300));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_says_nothing_is_waited_for_one_second() {
        let (sockets, start) = (Lingering::default(), Instant::now());
        sockets.keep(std::future::pending());
        sockets.closed().await;
        assert_eq!(start.elapsed(), END_WAIT);
    }
}
