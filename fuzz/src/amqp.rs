//! Bytes of an AMQP peer on their way to the library: however they are cut, the same frames pass, or the connection ends.

use wirelab_stacks::accepted_frames;

/// The first byte is the length of the pieces.
pub fn check(bytes: &[u8]) {
    let Some((piece, bytes)) = bytes.split_first() else { return };
    let whole = accepted_frames(bytes, bytes.len().max(1));
    assert_eq!(whole, accepted_frames(bytes, 1 + usize::from(*piece)));
    if let Some(passed) = whole {
        // A name gets one byte longer, and its list may get the longer form.
        let frames = bytes.len() / 8 + 1;
        assert!(passed.len() <= bytes.len() + 16 * frames, "{} bytes of {}", passed.len(), bytes.len());
    }
}

/// A header with frames of each kind that is read.
pub fn seeds() -> Vec<Vec<u8>> {
    let header = b"AMQP\x00\x01\x00\x00";
    let frames: [&[u8]; 7] = [
        &[0, 0, 0, 8, 2, 0, 0, 0],
        &[0, 0, 0, 20, 2, 0, 0, 1, 0x00, 0x53, 0x12, 0xc0, 7, 3, 0xa1, 2, b'a', b'b', 0x43, 0x41],
        &[
            0, 0, 0, 29, 2, 0, 0, 1, 0x00, 0x53, 0x12, 0xd0, 0, 0, 0, 13, 0, 0, 0, 3, 0xb1, 0, 0, 0, 2, b'a', b'b',
            0x43, 0x42,
        ],
        &[0, 0, 0, 12, 2, 0, 0, 1, 0x00, 0x53, 0x13, 0x45],
        &[0, 0, 0, 22, 2, 0, 0, 1, 0x00, 0x53, 0x15, 0xc0, 9, 3, 0x41, 0x52, 5, 0x70, 0, 0, 1, 0],
        &[0, 0, 0, 20, 2, 0, 0, 1, 0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x18, 0x45, 0],
        &[0, 0, 0, 24, 2, 0, 0, 1, 0x00, 0x53, 0x14, 0xc0, 4, 2, 0x43, 0x43, 0x00, 0x53, 0x75, 0xa0, 3, 1, 2, 3],
    ];
    let all: Vec<u8> = frames.concat();
    let mut seeds: Vec<Vec<u8>> = frames.iter().map(|frame| [&[2], &header[..], frame].concat()).collect();
    seeds.push([&[0], &header[..], &all].concat());
    seeds.push([&[200], &header[..], &all, &all].concat());
    seeds
}
