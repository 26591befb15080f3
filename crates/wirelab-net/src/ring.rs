//! A receive ring of an AF_PACKET socket, shared with the kernel (TPACKET_V2, `Documentation/networking/packet_mmap.rst`).
//!
//! A ring is not bound by `net.core.rmem_max`, which an unprivileged process cannot raise, and is read without a system call.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::libc;

const BYTES: usize = 4 << 20;
const SMALLEST_BLOCK: usize = 64 << 10;
/// Room that the kernel takes before the packet, more than TPACKET2_HDRLEN and its alignment need.
const HEADROOM: usize = 128;

/// The ring and our place in it.
pub(crate) struct Ring {
    memory: NonNull<u8>,
    frame_bytes: usize,
    frames: usize,
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

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Ask `socket` for a ring of packets of up to `packet_bytes`. Options that change the layout must be set before.
    pub(crate) fn new(socket: BorrowedFd<'_>, packet_bytes: usize) -> io::Result<Self> {
        let frame_bytes = (HEADROOM + packet_bytes).next_power_of_two().max(2048);
        let block_bytes = frame_bytes.max(SMALLEST_BLOCK);
        let bytes = BYTES.max(64 * frame_bytes).next_multiple_of(block_bytes);
        let frames = bytes / frame_bytes;
        let request = libc::tpacket_req {
            tp_block_size: block_bytes as u32,
            tp_block_nr: (bytes / block_bytes) as u32,
            tp_frame_size: frame_bytes as u32,
            tp_frame_nr: frames as u32,
        };
        super::socket::set_option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new shared mapping of the socket's ring, of exactly the size just agreed on.
        let memory = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, libc::MAP_SHARED, socket.as_raw_fd(), 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).expect("mmap gives no null");
        Ok(Self { memory, frame_bytes, frames, next: 0 })
    }

    /// The oldest packet that waits, with `lead` bytes that the kernel put before it.
    pub(crate) fn peek(&self, lead: usize) -> Option<Waiting<'_>> {
        if !self.is_ready() {
            return None;
        }
        let frame = self.frame();
        // SAFETY: the kernel has handed us this frame (`is_ready`), so its header is initialised and it does not write to it until `release`.
        let header = unsafe { &*frame.cast::<libc::tpacket2_hdr>() };
        let start = header.tp_mac as usize - lead;
        let length = (header.tp_snaplen as usize + lead).min(self.frame_bytes - start);
        // SAFETY: within the frame, by the line above; readable for as long as `self` is borrowed.
        let bytes = unsafe { std::slice::from_raw_parts(frame.add(start), length) };
        let stamp_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        Some(Waiting { stamp_ns, length: header.tp_len as usize, bytes })
    }

    /// True if a packet waits.
    pub(crate) fn is_ready(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Give the frame that was last peeked at back to the kernel.
    pub(crate) fn release(&mut self) {
        self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.frames;
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: `tp_status` is the first field of the frame, aligned, and both sides only access it atomically.
        unsafe { AtomicU32::from_ptr(self.frame().cast()) }
    }

    fn frame(&self) -> *mut u8 {
        // SAFETY: `next` is less than `frames`.
        unsafe { self.memory.as_ptr().add(self.next * self.frame_bytes) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, of that size; nothing borrows from it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.frames * self.frame_bytes) };
    }
}
