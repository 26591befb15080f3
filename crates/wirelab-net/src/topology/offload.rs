//! Offloads of an interface, by the ioctls of ethtool: netlink has them only since Linux 5.5, and its features by bit numbers.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::libc;

use crate::{Context, Error};

/// Name, and the ethtool commands that read and set it (`linux/ethtool.h`). Scatter-gather comes last: segmentation depends on it.
const OFFLOADS: [(&str, u32, u32); 5] = [
    ("tcp-segmentation", 0x1e, 0x1f),
    ("generic-segmentation", 0x23, 0x24),
    ("generic-receive", 0x2b, 0x2c),
    ("scatter-gather", 0x18, 0x19),
    ("tx-checksum", 0x16, 0x17),
];

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Switch all on or off.
pub(super) fn set(interface: &str, on: bool) -> Result<(), Error> {
    if on {
        return Ok(());
    }
    for (name, _, command) in OFFLOADS {
        ethtool(interface, command, 0).context(format!("switching {name} offload of {interface} off"))?;
    }
    Ok(())
}

/// The active offloads.
pub(super) fn read(interface: &str) -> Result<BTreeMap<String, String>, Error> {
    let read = |(name, command, _)| {
        let on = ethtool(interface, command, 0).context(format!("reading {name} offload of {interface}"))? != 0;
        Ok((format!("offload.{name}"), if on { "on" } else { "off" }.to_owned()))
    };
    OFFLOADS.into_iter().map(read).collect()
}

fn ethtool(interface: &str, command: u32, data: u32) -> io::Result<u32> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    let mut value = Value { command, data };
    // SAFETY: ifreq is plain old data, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: both structures outlive the call and are what the command expects.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(value.data) }
}
