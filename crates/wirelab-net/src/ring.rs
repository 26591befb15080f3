//! A receive ring of an AF_PACKET socket.
//!
//! A ring is not bound by `net.core.rmem_max`, which an unprivileged process cannot raise, and is read without a system call.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use nix::libc;

use crate::shared_ring::SharedRing;

/// 4096 packets of an MTU of 1500: more than a TCP connection has under way with the send buffer that the kernel grants by itself (`tcp_wmem`).
const BYTES: usize = 8 << 20;
/// Room that the kernel takes before the packet, more than TPACKET2_HDRLEN and its alignment need.
const HEADROOM: usize = 128;

/// The ring and our place in it.
pub(crate) struct Ring {
    shared: SharedRing,
    next: usize,
}

/// A packet that waits in the ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting<'a> {
    /// CLOCK_REALTIME, nanoseconds since 1970.
    pub(crate) stamp_ns: u64,
    /// Bytes that the packet had, from the Ethernet header on.
    pub(crate) length: usize,
    /// What the ring holds of it, behind `lead` bytes as asked for.
    pub(crate) bytes: &'a [u8],
}

impl Ring {
    /// Ask `socket` for a ring of packets of up to `packet_bytes`. Options that change the layout must be set before.
    pub(crate) fn new(socket: BorrowedFd<'_>, packet_bytes: usize) -> io::Result<Self> {
        let shared = SharedRing::new(socket, libc::PACKET_RX_RING, HEADROOM + packet_bytes, BYTES)?;
        Ok(Self { shared, next: 0 })
    }

    /// How many packets it holds.
    pub(crate) fn frames(&self) -> usize {
        self.shared.frames()
    }

    /// The oldest packet that waits, with `lead` bytes that the kernel put before it.
    pub(crate) fn peek(&self, lead: usize) -> Option<Waiting<'_>> {
        if !self.is_ready() {
            return None;
        }
        let frame = self.shared.frame(self.next);
        // SAFETY: the kernel has handed us this frame (`is_ready`), so its header is initialised and it does not write to it until `release`.
        let header = unsafe { &*frame.cast::<libc::tpacket2_hdr>() };
        let start = header.tp_mac as usize - lead;
        let length = (header.tp_snaplen as usize + lead).min(self.shared.frame_bytes() - start);
        // SAFETY: within the frame, by the line above; readable for as long as `self` is borrowed.
        let bytes = unsafe { std::slice::from_raw_parts(frame.add(start), length) };
        let stamp_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        Some(Waiting { stamp_ns, length: header.tp_len as usize, bytes })
    }

    /// True if a packet waits.
    pub(crate) fn is_ready(&self) -> bool {
        self.shared.status(self.next).load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Give the frame that was last peeked at back to the kernel.
    pub(crate) fn release(&mut self) {
        self.shared.status(self.next).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.shared.frames();
    }
}
