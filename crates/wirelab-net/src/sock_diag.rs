//! Destroys the TCP sockets of a network namespace (sock_diag(7)). It reads nothing of what they carried.

use std::fmt::Debug;
use std::io;

use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_packet_sock_diag::{SockDiagDestroy, SockDiagMessage};
use nix::libc::ENOENT;
use rtnetlink::packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use rtnetlink::sys::Socket;
use rtnetlink::sys::protocols::NETLINK_SOCK_DIAG;

use crate::{Context, Error};

/// Destroy every TCP socket of the current network namespace, of any owner: connections that outlive their process would otherwise continue
/// retransmitting into the next trial. Fails where the kernel lacks CONFIG_INET_DIAG_DESTROY. Returns how many there were.
pub fn destroy_sockets() -> Result<usize, Error> {
    let destroyed = [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())].map(destroy_family);
    destroyed.into_iter().sum::<io::Result<usize>>().context("destroying the sockets that a trial left")
}

fn destroy_family((family, any): (u8, SocketId)) -> io::Result<usize> {
    let socket = Socket::new(NETLINK_SOCK_DIAG)?;
    let found = ask(&socket, NLM_F_DUMP, SockDiagMessage::InetRequest(request(family, any)))?;
    let ids = found.into_iter().filter_map(|message| match message {
        SockDiagMessage::InetResponse(found) => Some(found.header.socket_id),
        _ => None,
    });
    let mut destroyed = 0;
    for id in ids {
        let destroy = SockDiagDestroy::new(SockDiagMessage::InetRequest(request(family, id)));
        match ask(&socket, NLM_F_ACK, destroy) {
            Err(error) if error.raw_os_error() != Some(ENOENT) => return Err(error),
            _ => destroyed += 1,
        }
    }
    Ok(destroyed)
}

/// A listener is left out: it belongs to a process and goes with it.
fn request(family: u8, socket_id: SocketId) -> InetRequest {
    let states = StateFlags::all() - StateFlags::LISTEN;
    InetRequest { family, protocol: IPPROTO_TCP, extensions: ExtensionFlags::empty(), states, socket_id }
}

/// The answers to a message, up to the last one.
fn ask<M>(socket: &Socket, flags: u16, message: M) -> io::Result<Vec<M>>
where
    M: NetlinkSerializable + NetlinkDeserializable + Debug + Into<NetlinkPayload<M>>,
{
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    let mut request = NetlinkMessage::new(header, message.into());
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    let mut found = Vec::new();
    loop {
        let (answers, _) = socket.recv_from_full()?;
        let mut rest = &answers[..];
        while !rest.is_empty() {
            let answer = NetlinkMessage::<M>::deserialize(rest).map_err(io::Error::other)?;
            match answer.payload {
                NetlinkPayload::Done(_) => return Ok(found),
                NetlinkPayload::Error(error) if error.code.is_none() => return Ok(found),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                NetlinkPayload::InnerMessage(message) => found.push(message),
                _ => {}
            }
            rest = &rest[(answer.header.length as usize).next_multiple_of(4).min(rest.len())..];
        }
    }
}
