//! UDP packets that carry when they were sent, received with the kernel's stamps. Both ends read one machine's clock, so the difference is a one-way
//! delay. It opens no socket and sends nothing.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrIn, SockaddrIn6, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use wirelab_link::Instant;

use crate::clock::{self, RealtimeOffset};
use crate::{Context, Error};

/// Number and instant of sending, little-endian.
pub const PAYLOAD_BYTES: usize = 16;
/// How old the offset between the two clocks may be.
const MEASURE_EVERY_NS: u64 = 10_000_000;

/// Number and instant of sending.
pub fn read_payload(bytes: &[u8]) -> Option<(u64, u64)> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some((number(0)?, number(8)?))
}

/// A packet of a flow, as it was received.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Which of the flow.
    pub number: u64,
    /// When its sender sent it, CLOCK_MONOTONIC nanoseconds.
    pub sent_ns: u64,
    /// When the kernel received it.
    pub received: Instant,
    /// Port that it came from.
    pub from_port: u16,
    /// Of its payload.
    pub bytes: usize,
}

/// Receives the packets of a flow with the kernel's stamps.
#[derive(Debug)]
pub struct Receiver {
    socket: UdpSocket,
    offset: RealtimeOffset,
    /// The stamp at which the offset was last measured.
    measured_at: u64,
}

impl Receiver {
    /// On this socket, whose read time-out holds.
    pub fn new(socket: UdpSocket) -> Result<Self, Error> {
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true).context("asking for the kernel's stamps")?;
        Ok(Self { socket, offset: RealtimeOffset::measure(), measured_at: 0 })
    }

    /// Its socket.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// The next one; none within the time-out.
    pub fn receive(&mut self) -> Result<Option<Received>, Error> {
        loop {
            let mut payload = [0; PAYLOAD_BYTES];
            let mut parts = [IoSliceMut::new(&mut payload)];
            let mut control = nix::cmsg_space!(TimeSpec);
            let descriptor = self.socket.as_raw_fd();
            // With this flag the kernel tells the whole length of a packet that is longer than what is read of it.
            let flags = MsgFlags::MSG_TRUNC;
            let message = recvmsg::<SockaddrStorage>(descriptor, &mut parts, Some(&mut control), flags);
            let message = match message {
                Ok(message) => message,
                Err(Errno::EINTR) => continue,
                Err(Errno::EAGAIN) => return Ok(None),
                Err(error) => return Err(error).context("receiving"),
            };
            let bytes = message.bytes;
            let from_port = message.address.as_ref().and_then(port).unwrap_or_default();
            let stamp = message.cmsgs().context("reading the kernel's stamp")?.find_map(|control| match control {
                ControlMessageOwned::ScmTimestampns(time) => {
                    Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
                }
                _ => None,
            });
            if let (Some(stamp), Some((number, sent_ns))) = (stamp, read_payload(&payload)) {
                // Where a look at the clock is a system call, looking for each packet costs more than receiving it.
                if stamp.abs_diff(self.measured_at) > MEASURE_EVERY_NS {
                    self.offset.refresh();
                    self.measured_at = stamp;
                }
                return Ok(Some(Received {
                    number,
                    sent_ns,
                    received: self.offset.to_monotonic(stamp),
                    from_port,
                    bytes,
                }));
            }
        }
    }
}

fn port(address: &SockaddrStorage) -> Option<u16> {
    let v4 = address.as_sockaddr_in().map(SockaddrIn::port);
    v4.or_else(|| address.as_sockaddr_in6().map(SockaddrIn6::port))
}

/// A payload that begins with the packet's number and this instant.
pub fn write_payload(payload: &mut [u8], number: u64) {
    payload[..8].copy_from_slice(&number.to_le_bytes());
    payload[8..PAYLOAD_BYTES].copy_from_slice(&clock::now().as_nanos().to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_tells_its_number_and_when_it_was_written() {
        let before = clock::now().as_nanos();
        let mut payload = [0; 40];
        write_payload(&mut payload, 7);
        let (number, sent_ns) = read_payload(&payload).unwrap();
        assert_eq!(number, 7);
        assert!((before..=clock::now().as_nanos()).contains(&sent_ns));
        assert_eq!(read_payload(&payload[..15]), None);
    }
}
