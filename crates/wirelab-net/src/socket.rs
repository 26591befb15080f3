//! An AF_PACKET socket on one interface: frames in with the kernel's stamps, frames out.
#![allow(unsafe_code)]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::libc;

use crate::ring::{Ring, Waiting};
use crate::send_ring::SendRing;
use crate::{Context, Error};

/// Bytes of an Ethernet header.
pub const ETHERNET_BYTES: usize = 14;
/// Bytes of a `virtio_net_hdr`, which carries unfinished checksums and segmentation between two interfaces with offloads on.
pub(crate) const VIRTIO_BYTES: usize = 10;
const SEND_BUFFER_BYTES: libc::c_int = 8 << 20;
/// The largest frame that segmentation offload makes.
const LARGEST_FRAME: usize = ETHERNET_BYTES + (64 << 10);

/// A socket that sees what one interface receives, and sends through it. Its own frames do not come back.
pub struct PacketSocket {
    descriptor: OwnedFd,
    ring: Ring,
    lead: usize,
    mtu: usize,
    /// None with offloads: frames as long as these make them are better not copied twice.
    outlet: Option<SendRing>,
}

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// When the kernel received it, CLOCK_REALTIME.
    pub stamp_ns: u64,
    /// Its bytes, behind `lead` bytes of offload information.
    pub bytes: &'a [u8],
    /// How many of these come before the Ethernet header.
    pub lead: usize,
    /// Longer than the MTU allows, and perhaps cut.
    pub oversized: bool,
}

impl Frame<'_> {
    /// An IPv4 or IPv6 packet to one host: what a link carries. ARP, neighbour discovery and other multicast are not.
    pub fn is_unicast_ip(&self) -> bool {
        let ethernet = self.bytes.get(self.lead..).unwrap_or_default();
        ethernet.len() > ETHERNET_BYTES
            && ethernet[0] & 1 == 0
            && matches!(ethernet[12..14], [0x08, 0x00] | [0x86, 0xdd])
    }

    /// IP bytes.
    pub fn ip_bytes(&self) -> usize {
        self.bytes.len() - self.lead - ETHERNET_BYTES
    }
}

impl PacketSocket {
    /// Open one on an interface of the current network namespace. With `offloads`, frames may be as long as segmentation offload makes them.
    pub fn open(interface: &str, mtu: u32, offloads: bool) -> Result<Self, Error> {
        Self::try_open(interface, mtu as usize, offloads).context(format!("opening an AF_PACKET socket on {interface}"))
    }

    /// The oldest frame that waits.
    pub fn peek(&self) -> Option<Frame<'_>> {
        let Waiting { stamp_ns, length, bytes } = self.ring.peek(self.lead)?;
        let oversized = length > ETHERNET_BYTES + self.mtu || length > bytes.len() - self.lead;
        Some(Frame { stamp_ns, bytes, lead: self.lead, oversized })
    }

    /// How many frames may wait.
    pub(crate) fn frames(&self) -> usize {
        self.ring.frames()
    }

    /// How many bytes come before the Ethernet header of each frame.
    pub fn lead(&self) -> usize {
        self.lead
    }

    /// Done with the frame that was last peeked at.
    pub fn release(&mut self) {
        self.ring.release();
    }

    /// Send frames as [`peek`](Self::peek) gave them on a socket opened alike. Never waits. Returns how many of them, from the first on, the kernel
    /// took.
    pub fn send(&mut self, frames: &[impl AsRef<[u8]>]) -> usize {
        match &mut self.outlet {
            Some(outlet) => outlet.send(frames),
            None => frames.iter().take_while(|frame| self.send_one(frame.as_ref()).is_ok()).count(),
        }
    }

    /// Send a frame by itself, so that the kernel's own error is known. Never waits.
    pub fn send_one(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: pointer and length are of a live slice.
        let sent =
            unsafe { libc::send(self.descriptor.as_raw_fd(), frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Frames that the kernel dropped because the ring was full, since the last call.
    pub fn take_drops(&self) -> u64 {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: both pointers are to live variables of the right types.
        let result = unsafe {
            libc::getsockopt(
                self.descriptor.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &mut length,
            )
        };
        if result == 0 { statistics.tp_drops.into() } else { 0 }
    }

    fn try_open(interface: &str, mtu: usize, offloads: bool) -> io::Result<Self> {
        let index = nix::net::if_::if_nametoindex(interface)?;
        let descriptor = new_socket()?;
        let socket = descriptor.as_fd();
        set_option(socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
        set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1)?;
        set_option(socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &libc::c_int::from(offloads))?;
        let (lead, longest) = if offloads { (VIRTIO_BYTES, LARGEST_FRAME) } else { (0, ETHERNET_BYTES + mtu) };
        refuse_groups(socket)?;
        let ring = Ring::new(socket, lead + longest)?;
        bind(socket, index, libc::ETH_P_ALL)?;
        let outlet = if offloads { None } else { Some(SendRing::open(index, longest)?) };
        Ok(Self { descriptor, ring, lead, mtu: longest - ETHERNET_BYTES, outlet })
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// `setsockopt` with a plain value.
pub(crate) fn set_option<T: Copy>(socket: BorrowedFd<'_>, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: pointer and length are of a live value; the kernel only reads it.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (value as *const T).cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// An AF_PACKET socket for rings. It receives nothing until it is bound to an interface and a protocol.
pub(crate) fn new_socket() -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    let number = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and nobody else's.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    let socket = descriptor.as_fd();
    let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
    set_option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
    if set_option(socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER_BYTES).is_err() {
        set_option(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &SEND_BUFFER_BYTES)?;
    }
    Ok(descriptor)
}

/// Let no frame in that is for a group of hosts (IEEE 802, the lowest bit of the first byte): the kernel sends some by itself, which would take places
/// of the ring and count as dropped where there is none.
fn refuse_groups(socket: BorrowedFd<'_>) -> io::Result<()> {
    let step = |code, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        step(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 0, 1, 1),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Bind to an interface; protocol 0 receives nothing.
pub(crate) fn bind(socket: BorrowedFd<'_>, index: u32, protocol: libc::c_int) -> io::Result<()> {
    // SAFETY: sockaddr_ll is plain old data, for which zeros are valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (protocol as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: pointer and length are of a live value of the type that the family demands.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
