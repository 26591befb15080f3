//! Any bytes where settings in force are read, of HTTP/2 and of QUIC: they are cut in any way, and what it comes to can always be said.

use arbitrary::{Result, Unstructured};
use wirelab_stacks::settings_in_force::{Http2Connection, QuicConnection, Watched};

/// Pieces of one input, at most.
const MAX_PIECES: usize = 64;
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The bytes are pieces, each with its side.
pub fn check(bytes: &[u8]) {
    // The input may end anywhere.
    let _ = try_check(&mut Unstructured::new(bytes));
}

fn try_check(input: &mut Unstructured<'_>) -> Result<()> {
    let (mut http2, mut quic) = (Http2Connection::new(), QuicConnection::default());
    for _ in 0..MAX_PIECES {
        let (kind, length) = (input.arbitrary::<u8>()?, usize::from(input.arbitrary::<u8>()?));
        let (side, piece) = (usize::from(kind & 1), input.bytes(length.min(input.len()))?);
        match kind >> 1 & 3 {
            0 => quic.announced(side, piece),
            1 => quic.passed(side, piece),
            _ => http2.passed(side, piece),
        }
        assert_eq!(http2.in_force().connections, 1);
        assert!(quic.in_force().connections <= 1);
    }
    Ok(())
}

/// Both sides' settings, windows and a body over HTTP/2, then transport parameters and frames of QUIC.
pub fn seeds() -> Vec<Vec<u8>> {
    let settings: &[u8] = &[0, 0, 12, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100, 0, 4, 0, 1, 0, 0];
    let window: &[u8] = &[0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 1, 0, 0];
    let headers: &[u8] = &[0, 0, 3, 1, 4, 0, 0, 0, 1, 0x82, 0x84, 0x87];
    let data: &[u8] = &[0, 0, 5, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 5];
    let parameters: &[u8] = &[0x04, 2, 0x44, 0x00, 0x05, 1, 0x20, 0x06, 1, 0x20, 0x08, 1, 0x10];
    let frames: &[u8] = &[0x0a, 0, 3, 1, 2, 3, 0x10, 0x44, 0x00, 0x11, 0, 0x30, 0x12, 0x20, 0x01];
    let piece = |kind: u8, bytes: &[u8]| [&[kind, bytes.len() as u8], bytes].concat();
    let http2 = [
        piece(4, PREFACE),
        piece(4, &[settings, window, headers, data].concat()),
        piece(5, &[settings, window].concat()),
        piece(5, &[headers, data].concat()),
    ];
    let quic = [piece(0, parameters), piece(1, parameters), piece(2, frames), piece(3, frames)];
    vec![http2.concat(), quic.concat(), [http2, quic].concat().concat()]
}
