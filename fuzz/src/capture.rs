//! A capture that was damaged, of another program or of our own: its packets are listed or it is refused; and one that is completed once is complete.

use std::path::Path;
use std::{env, fs};

use wirelab_capture::capture::{self, CaptureError, rows};
use wirelab_capture::pcapng::{self, Way, Writer};

/// With which a pcapng begins.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The bytes are the capture.
pub fn check(bytes: &[u8]) {
    let _ = packets(bytes);
    if bytes.get(..4) != Some(&SECTION_HEADER) {
        return;
    }
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
    let folder = tempfile::tempdir_in(place).expect("there is room for a folder");
    let path = folder.path().join("capture.pcapng");
    fs::write(&path, bytes).expect("there is room for a file");
    if pcapng::complete(&path, b"").is_err() {
        assert_eq!(fs::read(&path).expect("it is still there"), bytes);
        return;
    }
    let complete = fs::read(&path).expect("it is there");
    assert!(complete.len() <= bytes.len());
    pcapng::complete(&path, b"").expect("it was complete");
    assert_eq!(fs::read(&path).expect("it is there"), complete);
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1);
}

/// How many packets a capture has, each of them listed.
pub fn packets(bytes: &[u8]) -> Result<usize, CaptureError> {
    capture::read(bytes).map(|captured| rows::rows(&captured.packets).count())
}

/// Our own pcapng, and a pcap of each byte order and link type.
pub fn seeds() -> Vec<Vec<u8>> {
    let packets: [&[u8]; 2] =
        [&[2; 60], &[0x45, 0, 0, 28, 0, 1, 0, 0, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2, 0, 5, 0, 7, 0, 8, 0, 0]];
    let mut own = Writer::new(Vec::new(), "wirelab", &["client", "server"]).expect("memory takes it");
    // The later one first.
    for (at_ns, frame) in [(1, packets[1]), (0, packets[0])] {
        let frame = &[&[2; 12], &[8, 0][..], frame].concat();
        let packet = pcapng::Packet { interface: at_ns as u32, at_ns, way: Way::In, frame, comment: Some("dropped") };
        own.packet(&packet).expect("memory takes it");
    }
    let mut seeds = vec![own.finish().expect("memory takes it")];
    for link_type in [0, 1, 12, 101, 113, 228, 276] {
        for of in [u32::to_le_bytes, u32::to_be_bytes] {
            let version = if of(1)[0] == 1 { [2, 0, 4, 0] } else { [0, 2, 0, 4] };
            let mut pcap = [of(0xa1b2_c3d4), version, of(0), of(0), of(65_535), of(link_type)].concat();
            for frame in packets {
                let length = frame.len() as u32 + 14;
                pcap.extend([of(1), of(2), of(length), of(length)].concat());
                pcap.extend([&[2; 12], &[8, 0][..], frame].concat());
            }
            seeds.push(pcap);
        }
    }
    seeds
}
