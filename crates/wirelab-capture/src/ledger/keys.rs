//! Secrets of a key log (draft-ietf-tls-keylogfile), and what they open.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ring::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey, quic};
use ring::hkdf::{self, KeyType, Prk};

const TAG_BYTES: usize = 16;

/// Traffic secrets of TLS 1.3, of both sides. Which connection each is of shows when it opens something.
#[derive(Debug, Default)]
pub struct Secrets {
    sides: [BTreeSet<(Phase, Vec<u8>)>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Handshake,
    Application,
}

impl Secrets {
    /// From the lines of key logs; what is none of these secrets is left out.
    pub fn read(text: &str) -> Self {
        let mut secrets = Self::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (side, phase) = match words.next() {
                Some("CLIENT_HANDSHAKE_TRAFFIC_SECRET") => (0, Phase::Handshake),
                Some("SERVER_HANDSHAKE_TRAFFIC_SECRET") => (1, Phase::Handshake),
                Some("CLIENT_TRAFFIC_SECRET_0") => (0, Phase::Application),
                Some("SERVER_TRAFFIC_SECRET_0") => (1, Phase::Application),
                _ => continue,
            };
            if let Some(secret) = words.nth(1).and_then(from_hex) {
                secrets.sides[side].insert((phase, secret));
            }
        }
        secrets
    }

    /// Keys of this side's TLS records, those of handshakes first.
    pub fn records(&self, side: usize) -> impl Iterator<Item = RecordKey> {
        self.sides[side].iter().flat_map(|(_, secret)| suites(secret)).map(|suite| RecordKey::new(&suite))
    }

    /// Keys of this side's QUIC packets with a short header.
    pub fn packets(&self, side: usize) -> impl Iterator<Item = PacketKey> {
        let application = self.sides[side].iter().filter(|(phase, _)| *phase == Phase::Application);
        application.flat_map(|(_, secret)| suites(secret)).map(PacketKey::new)
    }
}

/// A cipher suite that a secret may be of.
struct Suite<'a> {
    secret: Cow<'a, [u8]>,
    hash: hkdf::Algorithm,
    aead: &'static aead::Algorithm,
    mask: &'static quic::Algorithm,
}

impl Suite<'_> {
    fn owned(self) -> Suite<'static> {
        Suite { secret: self.secret.into_owned().into(), ..self }
    }
}

/// By the length of its hash (RFC 8446, appendix B.4).
fn suites(secret: &[u8]) -> Vec<Suite<'_>> {
    let suite = |hash, aead, mask| Suite { secret: secret.into(), hash, aead, mask };
    match secret.len() {
        32 => vec![
            suite(hkdf::HKDF_SHA256, &aead::AES_128_GCM, &quic::AES_128),
            suite(hkdf::HKDF_SHA256, &aead::CHACHA20_POLY1305, &quic::CHACHA20),
        ],
        48 => vec![suite(hkdf::HKDF_SHA384, &aead::AES_256_GCM, &quic::AES_256)],
        _ => vec![],
    }
}

/// Opens TLS 1.3 records (RFC 8446, section 5.2), one after another.
pub struct RecordKey {
    key: LessSafeKey,
    iv: [u8; 12],
    number: u64,
}

impl RecordKey {
    fn new(suite: &Suite<'_>) -> Self {
        let key = expand(suite, b"key", suite.aead.key_len());
        let key = UnboundKey::new(suite.aead, &key).expect("of the algorithm's length");
        let iv = expand(suite, b"iv", 12).try_into().expect("12 bytes");
        Self { key: LessSafeKey::new(key), iv, number: 0 }
    }

    /// The content type of the next record and its content; `None` if it was not made with this key.
    pub fn open(&mut self, header: &[u8], sealed: &[u8]) -> Option<(u8, Vec<u8>)> {
        let mut content = sealed.to_vec();
        let opened = self.key.open_in_place(nonce(self.iv, self.number), Aad::from(header), &mut content).ok()?;
        let end = opened.iter().rposition(|byte| *byte != 0)?;
        let kind = opened[end];
        content.truncate(end);
        self.number += 1;
        Some((kind, content))
    }
}

/// Opens QUIC packets with a short header (RFC 9001, section 5), also after key updates (section 6).
pub struct PacketKey {
    current: Generation,
    /// Of the update before, for packets that come late.
    previous: Option<Generation>,
    mask: quic::HeaderProtectionKey,
    largest: u64,
}

/// The key between two updates.
struct Generation {
    suite: Suite<'static>,
    key: LessSafeKey,
    iv: [u8; 12],
    /// The Key Phase bit of its packets.
    phase: u8,
}

/// The Key Phase bit of a short header's first byte (RFC 9000, section 17.3.1).
const KEY_PHASE: u8 = 0x04;

impl Generation {
    fn new(suite: Suite<'static>, phase: u8) -> Self {
        let key = expand(&suite, b"quic key", suite.aead.key_len());
        let key = LessSafeKey::new(UnboundKey::new(suite.aead, &key).expect("of the algorithm's length"));
        let iv = expand(&suite, b"quic iv", 12).try_into().expect("12 bytes");
        Self { suite, key, iv, phase }
    }

    fn updated(&self) -> Self {
        let secret = expand(&self.suite, b"quic ku", self.suite.secret.len());
        Self::new(Suite { secret: secret.into(), ..self.suite }, self.phase ^ KEY_PHASE)
    }

    fn open(&self, number: u64, header: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let mut frames = sealed.to_vec();
        let opened = self.key.open_in_place(nonce(self.iv, number), Aad::from(header), &mut frames).ok()?.len();
        frames.truncate(opened);
        Some(frames)
    }
}

/// An opened packet.
pub struct Opened {
    /// Bytes in front of the frames.
    pub header_bytes: usize,
    /// Its frames.
    pub frames: Vec<u8>,
}

impl PacketKey {
    fn new(suite: Suite<'_>) -> Self {
        let mask = expand(&suite, b"quic hp", suite.mask.key_len());
        let mask = quic::HeaderProtectionKey::new(suite.mask, &mask).expect("of the algorithm's length");
        Self { current: Generation::new(suite.owned(), 0), previous: None, mask, largest: 0 }
    }

    /// Open a packet with a short header whose connection id has this length; `None` if it was not made with this key.
    pub fn open(&mut self, packet: &[u8], id_bytes: usize) -> Option<Opened> {
        let number_at = 1 + id_bytes;
        let sample = packet.get(number_at + 4..number_at + 4 + self.mask.algorithm().sample_len())?;
        let mask = self.mask.new_mask(sample).ok()?;
        let first = packet[0] ^ (mask[0] & 0x1f);
        let number_bytes = usize::from(first & 3) + 1;
        let header_bytes = number_at + number_bytes;
        let mut header = packet[..header_bytes].to_vec();
        header[0] = first;
        for (byte, mask) in header[number_at..].iter_mut().zip(&mask[1..]) {
            *byte ^= mask;
        }
        let truncated = header[number_at..].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let number = packet_number(self.largest, truncated, number_bytes as u32 * 8);
        let frames = self.frames(number, &header, &packet[header_bytes..])?;
        self.largest = self.largest.max(number);
        Some(Opened { header_bytes, frames })
    }

    fn frames(&mut self, number: u64, header: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        if header[0] & KEY_PHASE == self.current.phase {
            return self.current.open(number, header, sealed);
        }
        let updated = self.current.updated();
        if let Some(frames) = updated.open(number, header, sealed) {
            self.previous = Some(std::mem::replace(&mut self.current, updated));
            return Some(frames);
        }
        self.previous.as_ref()?.open(number, header, sealed)
    }
}

/// Bytes that every AEAD of TLS 1.3 and QUIC adds.
pub const fn tag_bytes() -> usize {
    TAG_BYTES
}

/// RFC 9000, appendix A.3.
fn packet_number(largest: u64, truncated: u64, bits: u32) -> u64 {
    let (expected, window) = (largest + 1, 1u64 << bits);
    let candidate = expected & !(window - 1) | truncated;
    if candidate + window / 2 <= expected {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

fn nonce(iv: [u8; 12], number: u64) -> Nonce {
    let mut nonce = iv;
    for (byte, part) in nonce[4..].iter_mut().zip(number.to_be_bytes()) {
        *byte ^= part;
    }
    Nonce::assume_unique_for_key(nonce)
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand(suite: &Suite<'_>, label: &[u8], length: usize) -> Vec<u8> {
    let mut output = vec![0; length];
    fill(&Prk::new_less_safe(suite.hash, &suite.secret), label, &mut output);
    output
}

/// HKDF-Expand-Label without a context (RFC 8446, section 7.1).
fn fill(secret: &Prk, label: &[u8], output: &mut [u8]) {
    let label_bytes = [(b"tls13 ".len() + label.len()) as u8];
    let info: [&[u8]; 5] = [&(output.len() as u16).to_be_bytes(), &label_bytes, b"tls13 ", label, &[0]];
    let filled = secret.expand(&info, Length(output.len())).and_then(|okm| okm.fill(output));
    filled.expect("shorter than 255 hashes");
}

fn from_hex(word: &str) -> Option<Vec<u8>> {
    let bytes = word.as_bytes().chunks_exact(2);
    bytes.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        from_hex(&text.replace(char::is_whitespace, "")).unwrap()
    }

    #[test]
    fn keys_are_those_of_rfc_9001_appendix_a_5() {
        let secret = hex("9ac312a7f877468ebe69422748ad00a1 5443f18203a07d6060f688f30f21632b");
        let secrets = Secrets::read(&format!("CLIENT_TRAFFIC_SECRET_0 00 {}\n", hex_text(&secret)));
        let packet = hex("4cfe4189655e5cd55c41f69080575d7999c25a5bfb");
        // Its packet number is 654360564; a PING.
        let opened = secrets.packets(0).find_map(|mut key| {
            key.largest = 654_360_563;
            key.open(&packet, 0)
        });
        let Opened { header_bytes, frames } = opened.unwrap();
        assert_eq!((header_bytes, frames), (4, vec![1]));
    }

    #[test]
    fn an_updated_key_is_that_of_rfc_9001_appendix_a_5_and_opens_the_other_phase() {
        let secret = hex("9ac312a7f877468ebe69422748ad00a1 5443f18203a07d6060f688f30f21632b");
        let suite = suites(&secret).remove(1);
        let first = Generation::new(suite.owned(), 0);
        let updated = first.updated();
        let expected = hex("1223504755036d556342ee9361d25342 1a826c9ecdf3c7148684b36b714881f9");
        assert_eq!((&*updated.suite.secret, updated.phase), (&expected[..], KEY_PHASE));

        let mut key = PacketKey::new(suites(&secret).remove(1));
        let mut sealed_by = |generation: &Generation, number: u64| {
            let header = [0x40 | generation.phase, number as u8];
            let mut packet = [&[1; 1][..], &[0; 30]].concat();
            let aad = Aad::from(header);
            generation.key.seal_in_place_append_tag(nonce(generation.iv, number), aad, &mut packet).unwrap();
            let packet = [&header[..], &packet].concat();
            let mask = key.mask.new_mask(&packet[5..21]).unwrap();
            let protected = [packet[0] ^ (mask[0] & 0x1f), packet[1] ^ mask[1]];
            key.open(&[&protected[..], &packet[2..]].concat(), 0).map(|opened| opened.frames[0])
        };
        assert_eq!([sealed_by(&first, 1), sealed_by(&updated, 2), sealed_by(&first, 3)], [Some(1); 3]);
        let third = updated.updated();
        assert_eq!([sealed_by(&third, 4), sealed_by(&updated, 5), sealed_by(&third.updated(), 6)], [Some(1); 3]);
        assert_eq!(sealed_by(&first, 7), None, "two updates ago");
    }

    #[test]
    fn records_are_opened_one_after_another() {
        let secret = [7; 32];
        let secrets = Secrets::read(&format!("SERVER_TRAFFIC_SECRET_0 00 {}\n", hex_text(&secret)));
        let suite = &suites(&secret)[1];
        let (sealer, header) = (RecordKey::new(suite), [23, 3, 3, 0, 21]);
        let seal = |number, content: &[u8]| {
            let mut sealed = content.to_vec();
            let nonce = nonce(sealer.iv, number);
            sealer.key.seal_in_place_append_tag(nonce, Aad::from(header), &mut sealed).unwrap();
            sealed
        };
        let mut key =
            secrets.records(1).find_map(|mut key| key.open(&header, &seal(0, b"abc\x17")).map(|_| key)).unwrap();
        assert_eq!(key.open(&header, &seal(1, b"abcd\x16\0\0")), Some((22, b"abcd".to_vec())));
        assert_eq!(key.open(&header, &seal(1, b"abc\x17")), None);
        assert!(secrets.records(0).next().is_none());
    }

    #[test]
    fn packet_numbers_are_those_of_rfc_9000_appendix_a_3() {
        assert_eq!(packet_number(0xa82f_30ea, 0x9b32, 16), 0xa82f_9b32);
        assert_eq!(packet_number(255, 0, 8), 256);
        assert_eq!(packet_number(0, 0, 8), 0);
    }

    fn hex_text(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
