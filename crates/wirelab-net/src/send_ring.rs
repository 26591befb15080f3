//! A socket that sends many frames with one system call, from a transmit ring.
//!
//! The kernel would copy a frame's first bytes only, and the others once more, into a page of their own, when a veth passes the frame on. So every
//! frame has a `virtio_net_hdr` whose `hdr_len` makes the kernel copy all of it in one step, or as much as `hdr_len` can say.
#![allow(unsafe_code)]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::Ordering;

use nix::libc;

use crate::shared_ring::SharedRing;
use crate::socket::{VIRTIO_BYTES, bind, new_socket, set_option};

/// Where the data of a frame begin: behind its header, aligned to TPACKET_ALIGNMENT.
const START: usize = size_of::<libc::tpacket2_hdr>().next_multiple_of(16);
/// Offset of `hdr_len` in a `virtio_net_hdr`, in the machine's byte order.
const HDR_LEN: usize = 2;

pub(crate) struct SendRing {
    socket: OwnedFd,
    shared: SharedRing,
    next: usize,
}

impl SendRing {
    /// Open one for frames of up to `longest` bytes on the interface of this index.
    pub(crate) fn open(index: u32, longest: usize) -> io::Result<Self> {
        let socket = new_socket()?;
        set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)?;
        let shared = SharedRing::new(socket.as_fd(), libc::PACKET_TX_RING, START + VIRTIO_BYTES + longest, 0)?;
        bind(socket.as_fd(), index, 0)?;
        Ok(Self { socket, shared, next: 0 })
    }

    /// Send frames. Returns how many of them, from the first on, the kernel took. Never waits.
    pub(crate) fn send(&mut self, frames: &[impl AsRef<[u8]>]) -> usize {
        let filled = frames.iter().zip(0..self.shared.frames()).take_while(|(frame, offset)| {
            let place = self.place(*offset);
            self.shared.status(place).load(Ordering::Acquire) == libc::TP_STATUS_AVAILABLE
                && self.fill(place, frame.as_ref())
        });
        let filled = filled.count();
        // SAFETY: no pointers: the frames are in the ring.
        unsafe { libc::send(self.socket.as_raw_fd(), ptr::null(), 0, libc::MSG_DONTWAIT) };
        let refused = [libc::TP_STATUS_SEND_REQUEST, libc::TP_STATUS_WRONG_FORMAT];
        let is_refused = |offset| refused.contains(&self.shared.status(self.place(offset)).load(Ordering::Acquire));
        let taken = (0..filled).find(|offset| is_refused(*offset)).unwrap_or(filled);
        // The kernel continues where it stopped, and so does this code.
        for offset in taken..filled {
            self.shared.status(self.place(offset)).store(libc::TP_STATUS_AVAILABLE, Ordering::Release);
        }
        self.next = self.place(taken);
        taken
    }

    /// Hand a frame to the kernel at a place that is free; false if it does not fit.
    fn fill(&self, place: usize, frame: &[u8]) -> bool {
        let mut header = [0; VIRTIO_BYTES];
        let length = VIRTIO_BYTES + frame.len();
        let hdr_len = u16::try_from(frame.len()).unwrap_or(u16::MAX);
        if START + length > self.shared.frame_bytes() {
            return false;
        }
        header[HDR_LEN..HDR_LEN + 2].copy_from_slice(&hdr_len.to_ne_bytes());
        let at = self.shared.frame(place);
        // SAFETY: the place is ours until its status says otherwise, and what is written lies within it, as just checked.
        unsafe {
            (*at.cast::<libc::tpacket2_hdr>()).tp_len = length as u32;
            ptr::copy_nonoverlapping(header.as_ptr(), at.add(START), VIRTIO_BYTES);
            ptr::copy_nonoverlapping(frame.as_ptr(), at.add(START + VIRTIO_BYTES), frame.len());
        }
        self.shared.status(place).store(libc::TP_STATUS_SEND_REQUEST, Ordering::Release);
        true
    }

    fn place(&self, offset: usize) -> usize {
        (self.next + offset) % self.shared.frames()
    }
}
