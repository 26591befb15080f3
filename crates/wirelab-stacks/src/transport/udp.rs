//! UDP sockets of clients and servers. It sends nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Type};

/// Asked for beyond the default of 208 KiB, which a burst of QUIC packets fills while the process waits for a CPU; capped by `net.core.rmem_max`.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;

/// A UDP socket on `address`; port 0 takes a free one.
pub fn bind(address: SocketAddr) -> io::Result<std::net::UdpSocket> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Any address of the server's family, for a client.
pub fn unspecified(server: SocketAddr) -> SocketAddr {
    let address = match server {
        SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    (address, 0).into()
}
