//! Which of many sockets have packets, by epoll.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use nix::libc;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};

/// Sockets that one poll reports; the others follow at the next poll.
const EVENTS: usize = 64;
/// Stands for a caller among the numbers of slots.
const CALL: u64 = u64::MAX;

/// Tells which slots have a frame, and sleeps until one has, somebody calls or time is up. What it costs does not grow with the slots that have
/// nothing.
pub(super) struct Poller {
    epoll: Epoll,
    event: EventFd,
    events: [EpollEvent; EVENTS],
    ready: Vec<usize>,
    woken: bool,
}

/// Wakes a [`Poller`], also by being dropped.
pub(super) struct Waker {
    event: OwnedFd,
}

impl Poller {
    /// For sockets, each with the number of its slot.
    pub(super) fn new<S: AsFd>(sockets: impl IntoIterator<Item = (usize, S)>) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        epoll.add(&event, EpollEvent::new(EpollFlags::EPOLLIN, CALL))?;
        for (slot, socket) in sockets {
            epoll.add(socket, EpollEvent::new(EpollFlags::EPOLLIN, slot as u64))?;
        }
        let ready = Vec::with_capacity(EVENTS);
        Ok(Self { epoll, event, events: [EpollEvent::empty(); EVENTS], ready, woken: false })
    }

    pub(super) fn waker(&self) -> io::Result<Waker> {
        Ok(Waker { event: self.event.as_fd().try_clone_to_owned()? })
    }

    /// Wait until a socket has a frame or somebody calls, for at most `limit`, to the nanosecond; false if neither happened.
    pub(super) fn wait(&mut self, limit: Option<Duration>) -> bool {
        let limit = limit.map(|limit| libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        });
        let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the limit is a live value or null, which means none; there are EVENTS events, each laid out as the kernel's; there is no signal mask.
        let found = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.0.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS,
                limit,
                ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        let found = usize::try_from(found).unwrap_or(0);
        let slots = self.events[..found].iter().map(EpollEvent::data);
        self.ready.clear();
        self.ready.extend(slots.clone().filter(|slot| *slot != CALL).map(|slot| slot as usize));
        self.woken = self.ready.len() < found;
        found > 0
    }

    /// As [`wait`](Self::wait), without waiting.
    pub(super) fn look(&mut self) -> bool {
        self.wait(Some(Duration::ZERO))
    }

    /// Slots that had a frame at the last look, once for each socket.
    pub(super) fn ready(&self) -> &[usize] {
        &self.ready
    }

    /// True if somebody had called at the last look.
    pub(super) fn take_wake(&mut self) -> bool {
        let woken = std::mem::take(&mut self.woken);
        if woken {
            let _ = self.event.read();
        }
        woken
    }
}

impl Waker {
    pub(super) fn wake(&self) {
        let _ = nix::unistd::write(&self.event, &1u64.to_ne_bytes());
    }
}

impl Drop for Waker {
    fn drop(&mut self) {
        self.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Pipes in place of sockets, one a slot.
    fn poller(slots: usize) -> (Poller, Vec<(io::PipeReader, io::PipeWriter)>) {
        let pipes: Vec<_> = (0..slots).map(|_| io::pipe().unwrap()).collect();
        let poller = Poller::new(pipes.iter().enumerate().map(|(slot, (reader, _))| (slot, reader))).unwrap();
        (poller, pipes)
    }

    #[test]
    fn slots_with_a_frame_are_reported_until_it_is_taken_and_no_others() {
        let (mut poller, mut pipes) = poller(3);
        assert!(!poller.look());
        pipes[1].1.write_all(b"frame").unwrap();
        for _ in 0..2 {
            assert!(poller.look());
            assert_eq!(poller.ready(), [1]);
            assert!(!poller.take_wake());
        }
    }

    #[test]
    fn more_slots_than_one_poll_reports_are_all_reported_in_turn() {
        let (mut poller, mut pipes) = poller(3 * EVENTS);
        pipes.iter_mut().for_each(|(_, writer)| writer.write_all(b"frame").unwrap());
        let mut reported: Vec<usize> = Vec::new();
        for _ in 0..3 {
            assert!(poller.look());
            reported.extend(poller.ready());
        }
        reported.sort_unstable();
        assert_eq!(reported, (0..3 * EVENTS).collect::<Vec<_>>());
    }

    #[test]
    fn a_call_ends_a_sleep_and_is_reported_once() {
        let (mut poller, _pipes) = poller(1);
        poller.waker().unwrap().wake();
        assert!(poller.wait(None));
        assert!(poller.ready().is_empty());
        assert!(poller.take_wake());
        assert!(!poller.look());
        assert!(!poller.take_wake());
    }

    #[test]
    fn a_waker_that_is_dropped_calls() {
        let (mut poller, _pipes) = poller(0);
        drop(poller.waker().unwrap());
        assert!(poller.wait(None) && poller.take_wake());
    }
}
