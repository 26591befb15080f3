//! Echo over TCP and over UDP: the references for protocols that run over them. Neither is an application protocol.

mod tcp;
mod udp;

pub use tcp::RawTcp;
pub use udp::RawUdp;

#[cfg(test)]
mod testing {
    //! A clock that knows what has reached a server.

    use std::os::fd::{AsRawFd, OwnedFd};

    use futures_util::future::BoxFuture;
    use nix::sys::socket::{MsgFlags, recv};

    use crate::{Clock, SystemClock};

    /// Reads 1 while nothing waits at the server's socket, and 2 from then on.
    pub struct Watching(pub OwnedFd);

    impl Clock for Watching {
        fn now_ns(&self) -> u64 {
            let peek = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
            1 + u64::from(recv(self.0.as_raw_fd(), &mut [0], peek).is_ok_and(|bytes| bytes > 0))
        }

        fn sleep_until(&self, instant_ns: u64) -> BoxFuture<'static, ()> {
            SystemClock.sleep_until(instant_ns)
        }
    }
}
