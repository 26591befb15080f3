//! TLS records (RFC 8446, section 5; RFC 5246, section 6.2) and DTLS 1.2 records (RFC 6347, section 4.1).

use wirelab_schema::LedgerBytes;

use super::keys::{RecordKey, Secrets};

const HEADER_BYTES: usize = 5;
const DATAGRAM_HEADER_BYTES: usize = 13;
const HANDSHAKE: u8 = 22;
const APPLICATION: u8 = 23;
const SERVER_HELLO: u8 = 2;

/// True if a client's first bytes are those of TLS.
pub fn is_tls(stream: &[u8]) -> bool {
    stream.starts_with(&[HANDSHAKE, 3])
}

/// True if these are those of DTLS.
pub fn is_dtls(datagram: &[u8]) -> bool {
    datagram.starts_with(&[HANDSHAKE, 0xfe])
}

/// The cipher suite that a server chose.
pub fn suite(stream: &[u8]) -> Option<u16> {
    let (header, rest) = stream.split_at_checked(HEADER_BYTES)?;
    (header[0] == HANDSHAKE).then(|| chosen(rest, 4)).flatten()
}

/// The same, if the first record of this datagram says it.
pub fn datagram_suite(datagram: &[u8]) -> Option<u16> {
    let (header, rest) = datagram.split_at_checked(DATAGRAM_HEADER_BYTES)?;
    (header[0] == HANDSHAKE && header[3..5] == [0, 0]).then(|| chosen(rest, 12)).flatten()
}

/// Account for one side's stream.
pub fn account_stream(stream: &[u8], side: usize, suite: Option<u16>, secrets: &Secrets, bytes: &mut LedgerBytes) {
    let mut records = Records::new(stream, side, suite, secrets);
    for (whole, content) in &mut records {
        match content {
            Content::Handshake => bytes.handshake += whole,
            Content::Opened(content) => apply(bytes, whole, content.len() as u64),
            Content::Length(plain) => apply(bytes, whole, plain),
            Content::Sealed => bytes.sealed += whole,
        }
    }
    bytes.sealed += records.rest.len() as u64;
}

/// What a record carries.
enum Content {
    /// Something of TLS itself.
    Handshake,
    /// These bytes of the application.
    Opened(Vec<u8>),
    /// So many bytes of the application.
    Length(u64),
    /// What no secret opened.
    Sealed,
}

/// The whole records of one side's stream, each with its bytes.
struct Records<'a> {
    rest: &'a [u8],
    side: usize,
    suite: Option<u16>,
    secrets: &'a Secrets,
    current: Option<RecordKey>,
}

impl<'a> Records<'a> {
    /// Under the cipher suite that the server chose.
    fn new(stream: &'a [u8], side: usize, suite: Option<u16>, secrets: &'a Secrets) -> Self {
        Self { rest: stream, side, suite, secrets, current: None }
    }
}

impl Iterator for Records<'_> {
    type Item = (u64, Content);

    fn next(&mut self) -> Option<Self::Item> {
        let (header, behind) = self.rest.split_at_checked(HEADER_BYTES)?;
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        let (content, behind) = behind.split_at_checked(length)?;
        self.rest = behind;
        let content = if header[0] != APPLICATION {
            Content::Handshake
        } else if self.suite.is_some_and(is_tls_1_3) {
            match open(&mut self.current, self.secrets, self.side, header, content) {
                Some((APPLICATION, plain)) => Content::Opened(plain),
                Some(_) => Content::Handshake,
                None => Content::Sealed,
            }
        } else {
            length.checked_sub(added_bytes(self.suite)).map_or(Content::Sealed, |plain| Content::Length(plain as u64))
        };
        Some(((HEADER_BYTES + length) as u64, content))
    }
}

/// Account for a datagram.
pub fn account_datagram(datagram: &[u8], suite: Option<u16>, bytes: &mut LedgerBytes) {
    let mut rest = datagram;
    while let Some((header, behind)) = rest.split_at_checked(DATAGRAM_HEADER_BYTES) {
        let length = usize::from(u16::from_be_bytes([header[11], header[12]]));
        let Some((_, behind)) = behind.split_at_checked(length) else { break };
        rest = behind;
        let whole = (DATAGRAM_HEADER_BYTES + length) as u64;
        match (header[0], length.checked_sub(added_bytes(suite))) {
            (APPLICATION, Some(plain)) => apply(bytes, whole, plain as u64),
            (APPLICATION, None) => bytes.sealed += whole,
            _ => bytes.handshake += whole,
        }
    }
    bytes.sealed += rest.len() as u64;
}

fn apply(bytes: &mut LedgerBytes, whole: u64, plain: u64) {
    bytes.application += plain;
    bytes.protection += whole - plain;
}

/// By the key that opened the record before, or by a new one.
fn open(
    current: &mut Option<RecordKey>,
    secrets: &Secrets,
    side: usize,
    header: &[u8],
    content: &[u8],
) -> Option<(u8, Vec<u8>)> {
    if let Some(opened) = current.as_mut().and_then(|key| key.open(header, content)) {
        return Some(opened);
    }
    let (key, opened) = secrets.records(side).find_map(|mut key| {
        let opened = key.open(header, content)?;
        Some((key, opened))
    })?;
    *current = Some(key);
    Some(opened)
}

/// The cipher suite of a ServerHello behind a handshake header of so many bytes (RFC 8446, section 4.1.3): version, random and a session id are before it.
fn chosen(handshake: &[u8], header_bytes: usize) -> Option<u16> {
    let hello = handshake.get(header_bytes..).filter(|_| handshake[0] == SERVER_HELLO)?;
    let at = 35 + usize::from(*hello.get(34)?);
    Some(u16::from_be_bytes(hello.get(at..at + 2)?.try_into().ok()?))
}

const fn is_tls_1_3(suite: u16) -> bool {
    suite >> 8 == 0x13
}

/// Bytes that (D)TLS 1.2 adds to a record's content: explicit nonce and tag of AES-GCM (RFC 5288), of AES-CCM with a short tag (RFC 6655, RFC 7251),
/// the tag alone of ChaCha20-Poly1305 (RFC 7905).
const fn added_bytes(suite: Option<u16>) -> usize {
    match suite {
        Some(0xc0a0..=0xc0a3 | 0xc0a8..=0xc0ab | 0xc0ae | 0xc0af) => 8 + 8,
        Some(0xcca8..=0xccae) => 16,
        _ => 8 + 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, length: usize) -> Vec<u8> {
        [&[kind, 3, 3, (length >> 8) as u8, length as u8], &*vec![0; length]].concat()
    }

    fn server_hello(suite: u16) -> Vec<u8> {
        let mut hello = [&[SERVER_HELLO, 0, 0, 42, 3, 3][..], &[9; 32], &[4, 1, 2, 3, 4]].concat();
        hello.extend(suite.to_be_bytes());
        hello
    }

    #[test]
    fn a_record_of_tls_1_2_says_by_its_type_and_suite_what_it_carries() {
        let hello = server_hello(0xc02b);
        let server = [&[HANDSHAKE, 3, 3, 0, hello.len() as u8], &*hello].concat();
        assert_eq!(suite(&server), Some(0xc02b));
        let stream = [record(22, 40), record(20, 1), record(APPLICATION, 124), record(21, 26), vec![23, 3]].concat();
        let mut bytes = LedgerBytes::default();
        account_stream(&stream, 0, suite(&server), &Secrets::default(), &mut bytes);
        let expected =
            LedgerBytes { application: 100, protection: 29, handshake: 45 + 6 + 31, sealed: 2, ..Default::default() };
        assert_eq!(bytes, expected);
    }

    #[test]
    fn what_no_secret_opens_is_sealed() {
        let mut bytes = LedgerBytes::default();
        account_stream(&record(APPLICATION, 50), 0, Some(0x1301), &Secrets::default(), &mut bytes);
        assert_eq!(bytes, LedgerBytes { sealed: 55, ..LedgerBytes::default() });
    }

    #[test]
    fn a_datagram_may_hold_several_records() {
        let record = |kind: u8, length: u8| {
            [&[kind, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 7, 0, length], &*vec![0; length.into()]].concat()
        };
        let mut bytes = LedgerBytes::default();
        account_datagram(&[record(20, 1), record(APPLICATION, 36)].concat(), Some(0xc0a8), &mut bytes);
        let expected = LedgerBytes { handshake: 14, application: 20, protection: 29, ..LedgerBytes::default() };
        assert_eq!(bytes, expected);
        let hello = [&[SERVER_HELLO, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0, 42], &server_hello(0xc0a8)[4..]].concat();
        let first = [&[HANDSHAKE, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, hello.len() as u8], &*hello].concat();
        assert_eq!((is_dtls(&first), datagram_suite(&first)), (true, Some(0xc0a8)));
    }
}
