//! Frames of fixed size that an AF_PACKET socket shares with the kernel (TPACKET_V2, `Documentation/networking/packet_mmap.rst`).
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

use nix::libc;

use crate::socket::set_option;

const SMALLEST_BLOCK: usize = 64 << 10;
const SMALLEST_FRAME: usize = 2048;
const MIN_FRAMES: usize = 64;

/// The mapping of a ring. Each frame begins with its `tp_status`, which says whether the kernel or the process owns it.
#[derive(Debug)]
pub(crate) struct SharedRing {
    memory: NonNull<u8>,
    frame_bytes: usize,
    frames: usize,
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for SharedRing {}

impl SharedRing {
    /// Ask `socket` for a ring by `option`, with room for `longest` bytes in each frame and `bytes` in all, or 64 frames. Options that change the
    /// layout must be set before.
    pub(crate) fn new(socket: BorrowedFd<'_>, option: i32, longest: usize, bytes: usize) -> io::Result<Self> {
        let frame_bytes = longest.next_power_of_two().max(SMALLEST_FRAME);
        let block_bytes = frame_bytes.max(SMALLEST_BLOCK);
        let bytes = bytes.max(MIN_FRAMES * frame_bytes).next_multiple_of(block_bytes);
        let frames = bytes / frame_bytes;
        let request = libc::tpacket_req {
            tp_block_size: block_bytes as u32,
            tp_block_nr: (bytes / block_bytes) as u32,
            tp_frame_size: frame_bytes as u32,
            tp_frame_nr: frames as u32,
        };
        set_option(socket, libc::SOL_PACKET, option, &request)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new shared mapping of the socket's ring, of exactly the size just agreed on.
        let memory = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, libc::MAP_SHARED, socket.as_raw_fd(), 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).expect("mmap gives no null");
        let ring = Self { memory, frame_bytes, frames };
        // A child needs no copy of it, and a kernel that runs as a program (User-Mode Linux) cannot make one.
        // SAFETY: advice on the mapping made above, of its whole length.
        if unsafe { libc::madvise(ring.memory.as_ptr().cast(), bytes, libc::MADV_DONTFORK) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(ring)
    }

    /// Bytes of each frame.
    pub(crate) fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// How many frames there are.
    pub(crate) fn frames(&self) -> usize {
        self.frames
    }

    /// Where a frame begins, aligned to its size.
    pub(crate) fn frame(&self, index: usize) -> *mut u8 {
        assert!(index < self.frames);
        // SAFETY: within the mapping, by the line above.
        unsafe { self.memory.as_ptr().add(index * self.frame_bytes) }
    }

    /// Whose a frame is.
    pub(crate) fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: `tp_status` is the first field of the frame, aligned, and both sides only access it atomically.
        unsafe { AtomicU32::from_ptr(self.frame(index).cast()) }
    }
}

impl Drop for SharedRing {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, of that size; nothing borrows from it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.frames * self.frame_bytes) };
    }
}
