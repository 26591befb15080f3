//! Writes captures as pcapng (draft-ietf-opsawg-pcapng): little-endian, Ethernet frames, stamps in nanoseconds since 1970.
//!
//! A writer takes packets in any order and before the TLS secrets that they need are known. [`complete`] puts both right once the file is closed;
//! without it the file is readable all the same.

mod complete;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

pub use complete::complete;

use crate::private_file;

/// A packet as an interface saw it.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Position of its interface in the list that the writer was given.
    pub interface: u32,
    /// When, CLOCK_REALTIME.
    pub at_ns: u64,
    /// Which way.
    pub way: Way,
    /// The whole frame from its Ethernet header on.
    pub frame: &'a [u8],
    /// What people should know of it.
    pub comment: Option<&'a str>,
}

/// What a capture has of an interface's packets, and what it lacks.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// Position of the interface in the list that the writer was given.
    pub interface: u32,
    /// When it was counted, CLOCK_REALTIME.
    pub at_ns: u64,
    /// Packets that are in the capture.
    pub captured: u64,
    /// Packets that the interface saw and the capture lacks.
    pub left_out: u64,
}

/// Which way a packet went through its interface; encoded as in `epb_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    /// It was received.
    In = 1,
    /// It was sent.
    Out = 2,
}

/// Writes one section, each block in one write: a buffer of whole writes always has whole blocks.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: W,
    /// A packet's block, kept for its room.
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begin a section that `application` writes, with the names of its interfaces.
    pub fn new(mut output: W, application: &str, interfaces: &[&str]) -> io::Result<Self> {
        let mut section = [&BYTE_ORDER.to_le_bytes()[..], &VERSION, &u64::MAX.to_le_bytes()].concat();
        option(&mut section, USER_APPLICATION, application.as_bytes());
        end_of_options(&mut section);
        block(&mut output, SECTION_HEADER, &section)?;
        for name in interfaces {
            // Behind the link type come two reserved bytes and the snap length: no limit.
            let mut interface = [&ETHERNET.to_le_bytes()[..], &[0; 2], &[0; 4]].concat();
            option(&mut interface, INTERFACE_NAME, name.as_bytes());
            option(&mut interface, STAMP_RESOLUTION, &[9]);
            end_of_options(&mut interface);
            block(&mut output, INTERFACE_DESCRIPTION, &interface)?;
        }
        output.flush()?;
        Ok(Self { output, block: Vec::new() })
    }

    /// Append a packet.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let length = packet.frame.len() as u32;
        self.block.clear();
        self.block.extend_from_slice(&[0; PACKET_HEAD]);
        self.block.extend_from_slice(packet.frame);
        self.block.extend_from_slice(&[0; 3][..padding(packet.frame.len())]);
        if let Some(comment) = packet.comment {
            option(&mut self.block, COMMENT, comment.as_bytes());
        }
        option(&mut self.block, PACKET_FLAGS, &(packet.way as u32).to_le_bytes());
        end_of_options(&mut self.block);
        let total = (self.block.len() + 4) as u32;
        self.block.extend_from_slice(&total.to_le_bytes());
        let fields = [
            ENHANCED_PACKET,
            total,
            packet.interface,
            (packet.at_ns >> 32) as u32,
            packet.at_ns as u32,
            length,
            length,
        ];
        for (place, field) in self.block[..PACKET_HEAD].chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        self.output.write_all(&self.block)
    }

    /// Hand on what was written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Append an interface's statistics.
    pub fn statistics(&mut self, statistics: &Statistics) -> io::Result<()> {
        let Statistics { interface, at_ns, captured, left_out } = *statistics;
        let mut body = [interface, (at_ns >> 32) as u32, at_ns as u32].map(u32::to_le_bytes).concat();
        for (code, packets) in [(RECEIVED, captured + left_out), (DROPPED, left_out), (DELIVERED, captured)] {
            option(&mut body, code, &packets.to_le_bytes());
        }
        end_of_options(&mut body);
        block(&mut self.output, INTERFACE_STATISTICS, &body)
    }

    /// Flush, and give the writer back.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

/// First four bytes of a capture: the type of a section header block, which every byte order has alike.
pub const MAGIC: [u8; 4] = SECTION_HEADER.to_le_bytes();

/// Create the [private file](private_file) of a capture.
pub fn create(path: &Path) -> io::Result<File> {
    private_file::create(path, &MAGIC)
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const DECRYPTION_SECRETS: u32 = 10;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// 1.0, and the length of the section is not known.
const VERSION: [u8; 4] = [1, 0, 0, 0];
/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;
/// TLS_KEYLOG: lines of SSLKEYLOGFILE.
const TLS_KEY_LOG: u32 = 0x544c_534b;
/// Bytes of an enhanced packet block before the packet.
const PACKET_HEAD: usize = 28;

const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const USER_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const STAMP_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
/// `isb_ifrecv`, `isb_ifdrop`, `isb_usrdeliv`.
const RECEIVED: u16 = 4;
const DROPPED: u16 = 5;
const DELIVERED: u16 = 8;

/// A decryption secrets block with lines of SSLKEYLOGFILE.
fn secrets_block(output: &mut impl Write, secrets: &[u8]) -> io::Result<()> {
    let length = secrets.len() as u32;
    let padding = &[0; 3][..padding(secrets.len())];
    block(output, DECRYPTION_SECRETS, &[&TLS_KEY_LOG.to_le_bytes(), &length.to_le_bytes(), secrets, padding].concat())
}

fn block(output: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let total = (body.len() as u32 + 12).to_le_bytes();
    output.write_all(&[&kind.to_le_bytes()[..], &total, body, &total].concat())
}

/// What exceeds 65,535 bytes is cut off.
fn option(to: &mut Vec<u8>, code: u16, value: &[u8]) {
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
    to.extend_from_slice(&code.to_le_bytes());
    to.extend_from_slice(&length.to_le_bytes());
    to.extend_from_slice(&value[..length.into()]);
    to.extend_from_slice(&[0; 3][..padding(length.into())]);
}

fn end_of_options(to: &mut Vec<u8>) {
    option(to, END_OF_OPTIONS, &[]);
}

/// Bytes to the next multiple of 4.
const fn padding(length: usize) -> usize {
    length.next_multiple_of(4) - length
}

#[cfg(test)]
mod tests;
