#![allow(unsafe_code)]
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::libc;

use crate::{Context, Error};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const SOCK_DESTROY: u16 = 21;
const HEADER: usize = 16;
const REQUEST: usize = 56;
/// Of `inet_diag_msg`: where its `inet_diag_sockid` begins, and how long that is.
const ID: std::ops::Range<usize> = 4..52;
/// TCP_LISTEN is left out: it belongs to a process and goes with it.
const ALL_STATES: u32 = 0xfff & !(1 << 10);

/// Destroy every TCP socket of the current network namespace, whoever owned it: connections that outlive their process would otherwise go on
/// retransmitting into the next trial. Fails where the kernel lacks CONFIG_INET_DIAG_DESTROY. Returns how many there were.
pub fn destroy_sockets() -> Result<usize, Error> {
    let destroyed = [libc::AF_INET, libc::AF_INET6].into_iter().map(|family| destroy_family(family as u8));
    destroyed.sum::<io::Result<usize>>().context("destroying the sockets that a trial left")
}

fn destroy_family(family: u8) -> io::Result<usize> {
    // SAFETY: no pointers.
    let number =
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_SOCK_DIAG) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    let dump = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    send(&socket, &request(SOCK_DIAG_BY_FAMILY, dump, family, &[0; 48]))?;
    let mut ids = Vec::new();
    receive(&socket, |body| ids.extend(body.get(ID).map(<[u8]>::to_vec)))?;
    for id in &ids {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        send(&socket, &request(SOCK_DESTROY, flags, family, id))?;
        match receive(&socket, |_| ()) {
            Err(error) if error.raw_os_error() != Some(libc::ENOENT) => return Err(error),
            _ => {}
        }
    }
    Ok(ids.len())
}

/// A netlink message with an `inet_diag_req_v2`.
fn request(kind: u16, flags: u16, family: u8, id: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + REQUEST);
    message.extend(((HEADER + REQUEST) as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([family, libc::IPPROTO_TCP as u8, 0, 0]);
    message.extend(ALL_STATES.to_ne_bytes());
    message.extend(id);
    message
}

/// Hand each answer's body to `each` until the last one.
fn receive(socket: &OwnedFd, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0u8; 32 << 10];
    loop {
        // SAFETY: pointer and length are of a live buffer.
        let length = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        if length < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut rest = &buffer[..length as usize];
        while rest.len() >= HEADER {
            let length =
                (u32::from_ne_bytes(rest[..4].try_into().expect("four bytes")) as usize).clamp(HEADER, rest.len());
            let body = &rest[HEADER..length];
            match i32::from(u16::from_ne_bytes([rest[4], rest[5]])) {
                libc::NLMSG_DONE => return Ok(()),
                libc::NLMSG_ERROR => {
                    let code = body.get(..4).map_or(0, |code| i32::from_ne_bytes(code.try_into().expect("four bytes")));
                    return if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-code)) };
                }
                _ => each(body),
            }
            rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        }
    }
}

fn send(socket: &OwnedFd, message: &[u8]) -> io::Result<()> {
    // SAFETY: pointer and length are of a live slice.
    let sent = unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
