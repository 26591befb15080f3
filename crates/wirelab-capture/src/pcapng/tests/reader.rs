//! What a reader that others wrote finds in a capture, for tests here and in wirelab-net. It reads nothing but pcapng.

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, PcapBlockOwned, PcapError, PcapNGReader, SecretsType};

/// What a reader finds in a capture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    Section,
    Interface {
        name: String,
        resolution: u8,
        link_type: i32,
    },
    Secrets(Vec<u8>),
    Packet {
        interface: u32,
        at_ns: u64,
        frame: Vec<u8>,
        options: Vec<(u16, Vec<u8>)>,
    },
    /// Packets received, dropped, delivered to the user.
    Statistics {
        interface: u32,
        at_ns: u64,
        packets: [u64; 3],
    },
}

/// All that a capture has.
pub(crate) fn read(bytes: &[u8]) -> Vec<Found> {
    let mut reader = PcapNGReader::new(1 << 20, bytes).unwrap();
    let mut found = Vec::new();
    loop {
        match reader.next() {
            Ok((length, PcapBlockOwned::NG(block))) => {
                found.push(read_block(&block));
                reader.consume(length);
            }
            Ok(_) => panic!("not pcapng"),
            Err(PcapError::Eof) => return found,
            Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn read_block(block: &Block<'_>) -> Found {
    match block {
        Block::SectionHeader(_) => Found::Section,
        Block::InterfaceDescription(interface) => Found::Interface {
            name: interface.if_name().unwrap().unwrap().to_owned(),
            resolution: interface.if_tsresol,
            link_type: interface.linktype.0,
        },
        Block::DecryptionSecrets(secrets) => {
            assert_eq!(secrets.secrets_type, SecretsType::TlsKeyLog);
            Found::Secrets(secrets.data[..secrets.secrets_len as usize].to_vec())
        }
        Block::InterfaceStatistics(statistics) => {
            let count = |code: u16| {
                let option = statistics.options.iter().find(|option| option.code.0 == code).unwrap();
                u64::from_le_bytes(option.value[..8].try_into().unwrap())
            };
            Found::Statistics {
                interface: statistics.if_id,
                at_ns: u64::from(statistics.ts_high) << 32 | u64::from(statistics.ts_low),
                packets: [4, 5, 8].map(count),
            }
        }
        Block::EnhancedPacket(packet) => {
            assert_eq!(packet.caplen, packet.origlen);
            let value = |option: &pcap_parser::PcapNGOption<'_>| option.value[..option.len as usize].to_vec();
            Found::Packet {
                interface: packet.if_id,
                at_ns: u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low),
                frame: packet.data[..packet.caplen as usize].to_vec(),
                options: packet.options.iter().map(|option| (option.code.0, value(option))).collect(),
            }
        }
        other => panic!("{other:?}"),
    }
}
