use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::libc;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::socket::PacketSocket;

/// Sleeps until a socket has a frame, somebody calls or time is up.
pub(super) struct Poller {
    epoll: Epoll,
    event: EventFd,
    woken: Arc<AtomicBool>,
}

/// Wakes a [`Poller`], also by being dropped.
pub(super) struct Waker {
    event: OwnedFd,
    woken: Arc<AtomicBool>,
}

impl Poller {
    pub(super) fn new<'a>(sockets: impl Iterator<Item = &'a PacketSocket>) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        epoll.add(&event, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        for socket in sockets {
            epoll.add(socket, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        }
        Ok(Self { epoll, event, woken: Arc::default() })
    }

    pub(super) fn waker(&self) -> io::Result<Waker> {
        Ok(Waker { event: self.event.as_fd().try_clone_to_owned()?, woken: self.woken.clone() })
    }

    pub(super) fn is_woken(&self) -> bool {
        self.woken.load(Ordering::Acquire)
    }

    /// True if somebody called since the last time.
    pub(super) fn take_wake(&self) -> bool {
        let woken = self.woken.swap(false, Ordering::AcqRel);
        if woken {
            let _ = self.event.read();
        }
        woken
    }

    /// Sleep for at most `time`, to the nanosecond.
    pub(super) fn sleep(&self, time: Option<Duration>) {
        let time = time
            .map(|time| libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() });
        let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
        let mut poll = libc::pollfd { fd: self.epoll.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the pointers are to live values, or null, which means no time limit and no signal mask.
        let ready = unsafe { libc::ppoll(&mut poll, 1, time, ptr::null()) };
        if ready > 0 && self.event.read().is_ok() {
            self.woken.store(true, Ordering::Release);
        }
    }
}

impl Waker {
    pub(super) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        let _ = nix::unistd::write(&self.event, &1u64.to_ne_bytes());
    }
}

impl Drop for Waker {
    fn drop(&mut self) {
        self.wake();
    }
}
