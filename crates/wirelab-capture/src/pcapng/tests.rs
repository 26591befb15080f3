//! The format byte for byte, and round trips through a reader that others wrote.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;
use reader::{Found, read};

mod reader;

fn packet(at_ns: u64, frame: &[u8]) -> Packet<'_> {
    Packet { interface: 0, at_ns, way: Way::Out, frame, comment: None }
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wirelab-pcapng-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn capture(&self, packets: &[Packet<'_>]) -> PathBuf {
        let path = self.0.join("client.pcapng");
        let mut writer = Writer::new(create(&path).unwrap(), "wirelab", &["client"]).unwrap();
        packets.iter().for_each(|packet| writer.packet(packet).unwrap());
        let captured = packets.len() as u64;
        writer.statistics(&Statistics { interface: 0, at_ns: 9, captured, left_out: 1 }).unwrap();
        writer.finish().unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_bytes_are_those_of_the_specification() {
    let mut writer = Writer::new(Vec::new(), "wirelab", &["client", "eth1"]).unwrap();
    let lost =
        Packet { interface: 1, at_ns: 0x0102_0304_0506_0708, way: Way::In, frame: &[0xaa; 5], comment: Some("lost") };
    writer.packet(&lost).unwrap();
    writer.statistics(&Statistics { interface: 1, at_ns: 0x0102_0304_0506_0708, captured: 9, left_out: 2 }).unwrap();
    let mut bytes = writer.finish().unwrap();
    secrets_block(&mut bytes, b"A b\n.").unwrap();
    #[rustfmt::skip]
    let expected = [
        // Section header: type, length, byte order, version 1.0, length of the section, shb_userappl.
        0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        4, 0, 7, 0, b'w', b'i', b'r', b'e', b'l', b'a', b'b', 0, 0, 0, 0, 0, 44, 0, 0, 0,
        // Interface description: Ethernet, no snap length, if_name, if_tsresol.
        1, 0, 0, 0, 44, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        2, 0, 6, 0, b'c', b'l', b'i', b'e', b'n', b't', 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
        1, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        2, 0, 4, 0, b'e', b't', b'h', b'1', 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0,
        // Enhanced packet: interface, stamp (upper half first), lengths, 5 bytes and padding, opt_comment, epb_flags.
        6, 0, 0, 0, 60, 0, 0, 0, 1, 0, 0, 0, 4, 3, 2, 1, 8, 7, 6, 5, 5, 0, 0, 0, 5, 0, 0, 0,
        0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0, 0, 0,
        1, 0, 4, 0, b'l', b'o', b's', b't', 2, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0,
        // Interface statistics: interface, stamp, isb_ifrecv, isb_ifdrop, isb_usrdeliv.
        5, 0, 0, 0, 64, 0, 0, 0, 1, 0, 0, 0, 4, 3, 2, 1, 8, 7, 6, 5,
        4, 0, 8, 0, 11, 0, 0, 0, 0, 0, 0, 0, 5, 0, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 8, 0, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0,
        // Decryption secrets: TLS key log, its length, 5 bytes and padding.
        10, 0, 0, 0, 28, 0, 0, 0, b'K', b'S', b'L', b'T', 5, 0, 0, 0, b'A', b' ', b'b', b'\n', b'.', 0, 0, 0, 28, 0, 0, 0,
    ];
    assert_eq!(bytes, expected);
}

#[test]
fn a_reader_finds_what_was_written() {
    let mut writer = Writer::new(Vec::new(), "wirelab", &["client", "server"]).unwrap();
    let (now, frame) = (1_795_000_000_123_456_789, vec![7; 1514]);
    writer.packet(&Packet { interface: 1, way: Way::In, comment: Some("é"), ..packet(now, &frame) }).unwrap();
    writer.packet(&packet(now + 1, &[])).unwrap();
    let interface = |name: &str| Found::Interface { name: name.into(), resolution: 9, link_type: 1 };
    let options = |way, comment: Option<&str>| {
        let comment = comment.map(|text| (1, text.as_bytes().to_vec()));
        comment.into_iter().chain([(2, vec![way, 0, 0, 0]), (0, vec![])]).collect()
    };
    assert_eq!(
        read(&writer.finish().unwrap()),
        [
            Found::Section,
            interface("client"),
            interface("server"),
            Found::Packet { interface: 1, at_ns: now, frame, options: options(1, Some("é")) },
            Found::Packet { interface: 0, at_ns: now + 1, frame: vec![], options: options(2, None) },
        ]
    );
}

#[test]
fn a_complete_capture_has_its_secrets_before_its_packets_and_these_in_order() {
    let folder = Folder::new("order");
    let path = folder.capture(&[packet(3, b"c"), packet(1, b"a"), packet(2, b"first b"), packet(2, b"second b")]);
    complete(&path, b"CLIENT_RANDOM 00 11\n").unwrap();
    let found = read(&fs::read(&path).unwrap());
    assert_eq!(found[0], Found::Section);
    assert!(matches!(found[1], Found::Interface { .. }));
    assert_eq!(found[2], Found::Secrets(b"CLIENT_RANDOM 00 11\n".to_vec()));
    assert_eq!(found[7..], [Found::Statistics { interface: 0, at_ns: 9, packets: [5, 1, 4] }]);
    let frames = found[3..7].iter().map(|found| match found {
        Found::Packet { frame, .. } => &frame[..],
        other => panic!("{other:?}"),
    });
    assert_eq!(frames.collect::<Vec<_>>(), [&b"a"[..], b"first b", b"second b", b"c"]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn the_secrets_of_thousands_of_connections_do_not_keep_a_capture_from_being_read() {
    let folder = Folder::new("many-secrets");
    let path = folder.capture(&[packet(1, &[0; 60])]);
    complete(&path, &b"CLIENT_RANDOM 00 11\n".repeat(100_000)).unwrap();
    let found = crate::capture::read(fs::File::open(&path).unwrap()).unwrap();
    assert!(!found.torn);
}

#[test]
fn without_secrets_there_is_not_a_secrets_block() {
    let folder = Folder::new("no-secrets");
    let path = folder.capture(&[packet(1, b"a")]);
    let before = fs::read(&path).unwrap();
    complete(&path, b"").unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_torn_last_block_is_left_out_wherever_it_is_torn() {
    let folder = Folder::new("torn");
    let whole = fs::read(folder.capture(&[packet(2, b"bbbb"), packet(1, b"aaaa")])).unwrap();
    let [packet_bytes, statistics_bytes] = [48, 64];
    let whole = &whole[..whole.len() - statistics_bytes];
    for torn in 1..=packet_bytes {
        let path = folder.0.join("client.pcapng");
        fs::write(&path, &whole[..whole.len() - torn]).unwrap();
        complete(&path, b"").unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole[..whole.len() - packet_bytes], "{torn}");
    }
}

#[test]
fn a_file_that_is_not_a_capture_stays_unchanged() {
    let folder = Folder::new("none");
    let path = folder.0.join("client.pcapng");
    fs::write(&path, [7; 40]).unwrap();
    assert_eq!(complete(&path, b"").unwrap_err().kind(), io::ErrorKind::InvalidData);
    assert_eq!(fs::read(&path).unwrap(), [7; 40]);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn a_link_to_a_capture_stays_a_link() {
    let folder = Folder::new("link");
    let (path, link) = (folder.capture(&[packet(2, b"b"), packet(1, b"a")]), folder.0.join("link"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    complete(&link, b"").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let Found::Packet { at_ns, .. } = read(&fs::read(&path).unwrap())[2] else { panic!() };
    assert_eq!(at_ns, 1);
}
