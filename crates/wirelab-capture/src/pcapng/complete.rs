//! Puts a finished capture in order of its stamps, and adds TLS secrets.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{ENHANCED_PACKET, INTERFACE_STATISTICS, create, secrets_block};

/// Put the packets of a capture that a [`Writer`](super::Writer) wrote in the order of their stamps, and `secrets` (lines of SSLKEYLOGFILE, perhaps
/// none) before them. The file is replaced in one step: when that fails, it is as it was. A torn last block is left out.
pub fn complete(path: &Path, secrets: &[u8]) -> io::Result<()> {
    // A link stays, and what it leads to is replaced.
    let path = &fs::canonicalize(path)?;
    let capture = File::open(path)?;
    let mut blocks = index(BufReader::new(&capture))?;
    blocks.packets.sort_by_key(|packet| packet.at_ns);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let written = create(&new).and_then(|file| {
        let mut output = BufWriter::new(file);
        copy(&capture, &blocks.heads, &mut output)?;
        if !secrets.is_empty() {
            secrets_block(&mut output, secrets)?;
        }
        copy(&capture, blocks.packets.iter().map(|packet| &packet.block), &mut output)?;
        copy(&capture, &blocks.statistics, &mut output)?;
        output.flush()?;
        fs::rename(&new, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// Where the blocks of a capture are.
#[derive(Default)]
struct Blocks {
    /// All but the others.
    heads: Vec<Block>,
    packets: Vec<Stamped>,
    statistics: Vec<Block>,
}

struct Block {
    offset: u64,
    length: u32,
}

struct Stamped {
    at_ns: u64,
    block: Block,
}

fn index(mut capture: impl BufRead + Seek) -> io::Result<Blocks> {
    let (mut blocks, mut offset) = (Blocks::default(), 0);
    let end = capture.seek(SeekFrom::End(0))?;
    capture.rewind()?;
    while end - offset >= 12 {
        let (kind, length) = (read_u32(&mut capture)?, read_u32(&mut capture)?);
        if length < 12 || !length.is_multiple_of(4) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a block of {length} bytes at {offset}")));
        }
        if u64::from(length) > end - offset {
            break;
        }
        let block = Block { offset, length };
        let mut read = 8;
        if kind == ENHANCED_PACKET && length >= 20 {
            let [_, high, low] = [read_u32(&mut capture)?, read_u32(&mut capture)?, read_u32(&mut capture)?];
            blocks.packets.push(Stamped { at_ns: u64::from(high) << 32 | u64::from(low), block });
            read += 12;
        } else if kind == INTERFACE_STATISTICS {
            blocks.statistics.push(block);
        } else {
            blocks.heads.push(block);
        }
        capture.seek_relative(i64::from(length) - read)?;
        offset += u64::from(length);
    }
    Ok(blocks)
}

fn copy<'a>(from: &File, blocks: impl IntoIterator<Item = &'a Block>, to: &mut impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    for block in blocks {
        bytes.resize(block.length as usize, 0);
        from.read_exact_at(&mut bytes, block.offset)?;
        to.write_all(&bytes)?;
    }
    Ok(())
}

fn read_u32(from: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
