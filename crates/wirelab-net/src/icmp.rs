//! Echo requests over a raw socket, which needs the rights that processes in a slot have.

use std::io;
use std::net::{IpAddr, UdpSocket};

use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};

use wirelab_capture::icmp;

use crate::{Context, Error};

/// A socket for echo requests to one host, of whose answers it reads those to its own identifier.
#[derive(Debug)]
pub struct EchoSocket {
    /// A raw socket: the type lends its functions.
    socket: UdpSocket,
    identifier: u16,
    ipv6: bool,
}

impl EchoSocket {
    /// Open it, without blocking. Two sockets of one namespace must have identifiers of their own.
    pub fn open(to: IpAddr, identifier: u16) -> Result<Self, Error> {
        let ipv6 = to.is_ipv6();
        let (family, protocol) =
            if ipv6 { (AddressFamily::Inet6, SockProtocol::IcmpV6) } else { (AddressFamily::Inet, SockProtocol::Icmp) };
        let open = || -> io::Result<UdpSocket> {
            let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
            let socket = UdpSocket::from(socket(family, SockType::Raw, flags, protocol)?);
            socket.connect((to, 0))?;
            Ok(socket)
        };
        Ok(Self { socket: open().context(format!("opening an ICMP socket to {to}"))?, identifier, ipv6 })
    }

    /// For polling.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Send a request with so many bytes of payload.
    pub fn request(&self, sequence: u16, payload_bytes: usize) -> io::Result<()> {
        let message = icmp::request(self.ipv6, self.identifier, sequence, payload_bytes);
        self.socket.send(&message).map(drop)
    }

    /// Read a packet: the bytes of payload if it is a reply to one of our requests.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let length = self.socket.recv(buffer)?;
        Ok(icmp::reply(self.ipv6, self.identifier, &buffer[..length]))
    }
}
