//! Reads captures of other programs (pcap, pcapng): the IP packets in them, as records of a link without delay.
//!
//! A capture does not say who is the client. It is the sender of the SYN. If none was captured, it is the host with the higher port, or else the first sender.
//! A torn last packet is ignored. No bytes make it panic.

pub mod rows;

use std::collections::HashMap;
use std::io::Read;
use std::net::IpAddr;
use std::time::Duration;

use etherparse::err::ip::LaxHeaderSliceError;
use etherparse::{IpNumber, LaxIpSlice};
use pcap_parser::pcapng::{EnhancedPacketBlock, OptionCode};
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};
use wirelab_link::{Instant, PortId};

use crate::packet_log::{Outcome, Record};

/// Why a capture cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The file is something else.
    #[error("is neither pcap nor pcapng")]
    NotACapture,
    /// Another link layer than those that are understood.
    #[error("has link type {number}{name}; Ethernet, raw IP, Linux cooked and loopback are understood", number = .0, name = named(*.0))]
    LinkType(i32),
    /// A packet of an interface that was not described.
    #[error("has a packet of interface {0}, which it does not describe")]
    Interface(u32),
    /// A block that makes no sense or is larger than any packet, or a failed read, after so many IP packets.
    #[error("cannot be read behind its first {0} IP packets")]
    Broken(usize),
}

/// What a capture holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Its IP packets, in the file's order.
    pub packets: Vec<(Record, Vec<u8>)>,
    /// How many of them were not captured to their end; their sizes are those of their headers.
    pub in_part: usize,
    /// Packets of which less than the headers of link and IP was captured: IP as far as that tells, and left out.
    pub short: usize,
    /// Frames that are not IP packets, and are left out.
    pub other_frames: usize,
    /// The file ends within a packet, which is left out.
    pub torn: bool,
}

/// Read a whole capture: the first bytes of each of its IP packets.
pub fn read(input: impl Read + Send) -> Result<Captured, CaptureError> {
    read_with(input, Capture { kept_bytes: HEADERS_BYTES, ..Capture::default() })
}

/// The packets that the host of a capture of Wirelab's sent, whole, as those of this port. The capture says of each whether it was sent or received.
pub fn read_sent(input: impl Read + Send, port: PortId) -> Result<Vec<(Record, Vec<u8>)>, CaptureError> {
    let capture = Capture { kept_bytes: usize::MAX, sent_alone: true, ..Capture::default() };
    let packets = read_with(input, capture)?.packets;
    Ok(packets.into_iter().map(|(record, bytes)| (Record { port, ..record }, bytes)).collect())
}

fn read_with(input: impl Read + Send, mut capture: Capture) -> Result<Captured, CaptureError> {
    let mut room = BUFFER_BYTES;
    let mut reader = create_reader(room, input).map_err(|_| CaptureError::NotACapture)?;
    loop {
        match reader.next() {
            Ok((length, block)) => {
                capture.take(block)?;
                reader.consume(length);
            }
            Err(PcapError::Eof) => return Ok(capture.captured),
            Err(PcapError::UnexpectedEof) => return Ok(Captured { torn: true, ..capture.captured }),
            Err(PcapError::Incomplete(_)) => {
                reader.refill().map_err(|_| CaptureError::Broken(capture.captured.packets.len()))?;
            }
            Err(PcapError::BufferTooSmall) if room < LARGEST_BLOCK => {
                room *= 2;
                reader.grow(room);
            }
            Err(_) => return Err(CaptureError::Broken(capture.captured.packets.len())),
        }
    }
}

const FLAGS: OptionCode = OptionCode(2);

/// By its flags (draft-ietf-opsawg-pcapng section 4.3.1): outbound.
fn is_sent(packet: &EnhancedPacketBlock<'_>) -> bool {
    let flags = packet.options.iter().find(|option| option.code == FLAGS);
    flags.and_then(|option| option.value.first()).is_some_and(|flags| flags & 3 == 2)
}

/// Room for the largest packet.
const BUFFER_BYTES: usize = 1 << 19;
/// Secrets of thousands of connections are one block. Wireshark reads none that is larger.
const LARGEST_BLOCK: usize = 1 << 24;
/// More than any header.
const HEADERS_BYTES: usize = 255;

#[derive(Default)]
struct Capture {
    kept_bytes: usize,
    /// What was received is passed over.
    sent_alone: bool,
    interfaces: Vec<Interface>,
    clients: HashMap<Ends, Client>,
    captured: Captured,
}

/// Where packets were captured: link type, and the unit of the stamps.
#[derive(Clone, Copy)]
struct Interface {
    link_type: i32,
    ticks_per_second: u64,
    offset_s: i64,
}

/// An address and its port, 0 where there is none.
type End = (IpAddr, u16);
/// Protocol and both ends, the smaller first.
type Ends = (IpNumber, End, End);

struct Client {
    end: End,
    /// Sequence number of its SYN, if it was captured.
    opened: Option<u32>,
}

impl Capture {
    fn take(&mut self, block: PcapBlockOwned<'_>) -> Result<(), CaptureError> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let ticks_per_second = if header.is_nanosecond_precision() { NANOS } else { 1_000_000 };
                self.describe(Interface { link_type: header.network.0, ticks_per_second, offset_s: 0 })
            }
            PcapBlockOwned::Legacy(packet) => {
                let ticks = self.interfaces.first().map_or(0, |interface| interface.ticks_per_second);
                let stamp = u128::from(packet.ts_sec) * u128::from(ticks) + u128::from(packet.ts_usec);
                self.packet(0, stamp, packet.origlen, packet.data)
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                self.interfaces.clear();
                Ok(())
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                let exponent = u32::from(interface.if_tsresol & 0x7f);
                let base: u64 = if interface.if_tsresol & 0x80 == 0 { 10 } else { 2 };
                let ticks_per_second =
                    base.checked_pow(exponent).ok_or(CaptureError::Broken(self.captured.packets.len()))?;
                let link_type = interface.linktype.0;
                self.describe(Interface { link_type, ticks_per_second, offset_s: interface.if_tsoffset })
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) if self.sent_alone && !is_sent(&packet) => Ok(()),
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let stamp = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                let captured = packet.data.len().min(packet.caplen as usize);
                self.packet(packet.if_id, stamp, packet.origlen, &packet.data[..captured])
            }
            PcapBlockOwned::NG(_) => Ok(()),
        }
    }

    fn describe(&mut self, interface: Interface) -> Result<(), CaptureError> {
        if !is_understood(interface.link_type) {
            return Err(CaptureError::LinkType(interface.link_type));
        }
        self.interfaces.push(interface);
        Ok(())
    }

    fn packet(&mut self, interface: u32, stamp: u128, on_wire: u32, frame: &[u8]) -> Result<(), CaptureError> {
        let place = self.interfaces.get(interface as usize).ok_or(CaptureError::Interface(interface))?;
        let packet = ip_packet(place.link_type, frame);
        let (packet, ip) = match packet.map(|packet| (packet, LaxIpSlice::from_slice(packet))) {
            Some((packet, Ok((ip, _)))) => (packet, ip),
            Some((_, Err(LaxHeaderSliceError::Len(_)))) if frame.len() < on_wire as usize => {
                self.captured.short += 1;
                return Ok(());
            }
            _ => {
                self.captured.other_frames += 1;
                return Ok(());
            }
        };
        let above = on_wire.saturating_sub((frame.len() - packet.len()) as u32);
        let arrival = Instant::from_nanos(place.nanos(stamp));
        let record = Record {
            sequence: self.captured.packets.len() as u64,
            port: PortId(u16::from(!self.is_from_client(&ip))),
            outcome: Outcome::Delivered,
            translated: None,
            originated: false,
            copy: false,
            corrupted_bit: None,
            size: length_field(packet).unwrap_or(above),
            arrival,
            departure: arrival,
            lateness: Duration::ZERO,
        };
        self.captured.in_part += usize::from(packet.len() < record.size as usize);
        self.captured.packets.push((record, packet[..packet.len().min(self.kept_bytes)].to_vec()));
        Ok(())
    }

    fn is_from_client(&mut self, ip: &LaxIpSlice<'_>) -> bool {
        let protocol = ip.payload_ip_number();
        let transport = if ip.payload().fragmented { &[] } else { ip.payload().payload };
        let has_ports = matches!(protocol, IpNumber::TCP | IpNumber::UDP);
        let port = |at: usize| {
            transport.get(at..at + 2).filter(|_| has_ports).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]))
        };
        let (source, destination) = ((ip.source_addr(), port(0)), (ip.destination_addr(), port(2)));
        let syn = (protocol == IpNumber::TCP).then(|| opening(transport)).flatten();

        let guessed = match syn {
            Some(Opening { answers: false, .. }) => source,
            Some(Opening { answers: true, .. }) => destination,
            None if source.1 >= destination.1 => source,
            None => destination,
        };
        let opened = syn.filter(|syn| !syn.answers).map(|syn| syn.sequence);
        let key = (protocol, source.min(destination), source.max(destination));
        let client = self.clients.entry(key).or_insert(Client { end: guessed, opened });
        if opened.is_some() && opened != client.opened {
            *client = Client { end: guessed, opened };
        }
        client.end == source
    }
}

impl Interface {
    /// Nanoseconds since 1970; 0 before, and the most there is where they do not fit.
    fn nanos(self, stamp: u128) -> u64 {
        let nanos = (stamp * u128::from(NANOS) / u128::from(self.ticks_per_second)).min(i64::MAX as u128) as i128;
        u64::try_from((nanos + i128::from(self.offset_s) * i128::from(NANOS)).max(0)).unwrap_or(u64::MAX)
    }
}

const NANOS: u64 = 1_000_000_000;
const ETHERNET: i32 = 1;
const LINUX_COOKED: i32 = 113;
const LINUX_COOKED_2: i32 = 276;

/// True for the link types that [`ip_packet`] knows: in addition to the named ones, loopback (0 and 108: four bytes of address family before the IP header)
/// and raw IP (101, as systems have it 12 and 14, of one version 228 and 229).
const fn is_understood(link_type: i32) -> bool {
    matches!(link_type, ETHERNET | LINUX_COOKED | LINUX_COOKED_2 | 0 | 108 | 101 | 12 | 14 | 228 | 229)
}

/// ` (NAME)` of link types that people may capture and that are not understood (tcpdump.org/linktypes.html); empty of others.
const fn named(link_type: i32) -> &'static str {
    match link_type {
        105 => " (IEEE 802.11)",
        127 => " (IEEE 802.11 with radiotap)",
        195 => " (IEEE 802.15.4)",
        230 => " (IEEE 802.15.4 without FCS)",
        283 => " (IEEE 802.15.4 TAP)",
        192 => " (PPI)",
        187 | 201 => " (Bluetooth HCI)",
        251 | 256 => " (Bluetooth Low Energy)",
        270 => " (LoRaTap)",
        189 | 220 | 249 => " (USB)",
        9 | 50 => " (PPP)",
        239 => " (NFLOG)",
        252 => " (Wireshark's exported PDUs)",
        _ => "",
    }
}

/// What a frame has of its IP packet, nothing if it ends before; `None` if it says that it carries something else.
fn ip_packet(link_type: i32, frame: &[u8]) -> Option<&[u8]> {
    let is_tag = |tag: &&[u8]| matches!(tag.get(..2), Some([0x81, 0] | [0x88, 0xa8]));
    let (ether_type_at, behind) = match link_type {
        ETHERNET => {
            let tags = frame.get(12..).unwrap_or_default().chunks(4).take_while(is_tag).count();
            (Some(12 + 4 * tags), 14 + 4 * tags)
        }
        LINUX_COOKED => (Some(14), 16),
        LINUX_COOKED_2 => (Some(0), 20),
        0 | 108 => (None, 4),
        _ => (None, 0),
    };
    let may_be_ip = |at: usize| frame.get(at..at + 2).is_none_or(|two| matches!(two, [0x08, 0x00] | [0x86, 0xdd]));
    ether_type_at.is_none_or(may_be_ip).then(|| frame.get(behind..).unwrap_or_default())
}

/// The packet's length by its own header; `None` where that is left to the network card (0).
fn length_field(packet: &[u8]) -> Option<u32> {
    let field = |at: usize| packet.get(at..at + 2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]])));
    match packet.first()? >> 4 {
        4 => field(2).filter(|length| *length > 0),
        _ => field(4).filter(|length| *length > 0).map(|length| length + 40),
    }
}

#[derive(Clone, Copy)]
struct Opening {
    sequence: u32,
    /// It has an ACK: the answer to another.
    answers: bool,
}

/// What a TCP header with SYN opens (RFC 9293 section 3.1).
fn opening(header: &[u8]) -> Option<Opening> {
    let flags = *header.get(13)?;
    let sequence = u32::from_be_bytes(header.get(4..8)?.try_into().ok()?);
    (flags & 0x02 != 0).then_some(Opening { sequence, answers: flags & 0x10 != 0 })
}

#[cfg(test)]
mod tests;
