//! Names of a peer's receivers, marked so that the library keeps them apart from senders, and frames that the library cannot handle, refused.
//! Nothing else of a frame is changed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frames::{Fields, Frames, Part, code};

/// What the name of a peer's receiver has at its end while the library handles it.
const MARK: u8 = 1;
/// A disposition of more deliveries ends the connection: the library walks through its whole range, which may be 2^32.
const LONGEST_DISPOSITION: u32 = 1 << 20;
/// A longer `attach` passes as it is.
const LONGEST_ATTACH: usize = 65_536;

/// A stream whose peer may have a sender and a receiver of one name in a session, as AMQP allows (part 2, section 2.6.1) and Qpid Proton does unless
/// told otherwise. The library knows links by their names alone and would leave the second unanswered. So the names of receivers are marked on
/// their way in, and the marks taken off on the way out.
pub struct MarkedNames<S> {
    stream: S,
    guard: Guard,
    incoming: Renamer,
    to_read: BytesMut,
    outgoing: Renamer,
    to_write: BytesMut,
}

impl<S> MarkedNames<S> {
    /// Of the end that listens.
    pub fn new(stream: S) -> Self {
        MarkedNames {
            stream,
            guard: Guard::default(),
            incoming: Renamer::new(mark),
            to_read: BytesMut::new(),
            outgoing: Renamer::new(unmark),
            to_write: BytesMut::new(),
        }
    }
}

impl<S: AsyncWrite + Unpin> MarkedNames<S> {
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.to_write.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.to_write))?;
            self.to_write.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MarkedNames<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let mut bytes = [0; 8 * 1024];
        while this.to_read.is_empty() {
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.guard.check(read.filled())?;
            this.incoming.take(read.filled(), &mut this.to_read);
        }
        let length = this.to_read.len().min(buffer.remaining());
        buffer.put_slice(&this.to_read.split_to(length));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MarkedNames<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        ready!(this.poll_drain(cx))?;
        this.outgoing.take(bytes, &mut this.to_write);
        match this.poll_drain(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(bytes.len())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// What the library reads of a peer's bytes that come in pieces of `piece`; `None` if they end the connection. It is what the fuzz target calls.
pub fn accepted_frames(bytes: &[u8], piece: usize) -> Option<Vec<u8>> {
    let (mut guard, mut renamer, mut out) = (Guard::default(), Renamer::new(mark), BytesMut::new());
    for part in bytes.chunks(piece) {
        guard.check(part).ok()?;
        renamer.take(part, &mut out);
    }
    Some(out.to_vec())
}

/// Ends a connection whose peer sends what would panic in the library or keep it busy.
#[derive(Default)]
struct Guard(Frames);

impl Guard {
    fn check(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut too_long = false;
        self.0.take(bytes, |part| {
            if let Part::Performative { code: code::DISPOSITION, fields, .. } = part {
                let first = fields.uint(1).unwrap_or_default();
                too_long |= fields.uint(2).is_some_and(|last| last.wrapping_sub(first) > LONGEST_DISPOSITION);
            }
        });
        match (self.0.is_lost(), too_long) {
            (false, false) => Ok(()),
            (true, _) => Err(io::Error::new(io::ErrorKind::InvalidData, "not an AMQP frame")),
            (false, true) => Err(io::Error::new(io::ErrorKind::InvalidData, "a disposition of too many deliveries")),
        }
    }
}

/// The name of a receiver, marked.
fn mark(name: &[u8], of_receiver: bool) -> Option<Vec<u8>> {
    of_receiver.then(|| [name, &[MARK]].concat())
}

/// The name of a sender without its mark, if it has one: it answers a receiver.
fn unmark(name: &[u8], of_receiver: bool) -> Option<Vec<u8>> {
    name.strip_suffix(&[MARK]).filter(|_| !of_receiver).map(<[u8]>::to_vec)
}

/// Gives links other names as their `attach` frames pass; everything else passes as it is.
struct Renamer {
    rename: fn(&[u8], bool) -> Option<Vec<u8>>,
    head: Vec<u8>,
    passing: u64,
}

impl Renamer {
    fn new(rename: fn(&[u8], bool) -> Option<Vec<u8>>) -> Self {
        Renamer { rename, head: Vec::new(), passing: 0 }
    }

    fn take(&mut self, mut bytes: &[u8], out: &mut BytesMut) {
        while !bytes.is_empty() {
            if self.passing > 0 {
                let length = self.passing.min(bytes.len() as u64) as usize;
                out.put(&bytes[..length]);
                self.passing -= length as u64;
                bytes = &bytes[length..];
                continue;
            }
            let taken = (needed(&self.head) - self.head.len()).min(bytes.len());
            self.head.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.head.len() == needed(&self.head) {
                self.passing = left(&self.head);
                let attach = if self.passing == 0 { renamed(&self.head, self.rename) } else { None };
                out.put(attach.as_deref().unwrap_or(&self.head));
                self.head.clear();
            }
        }
    }
}

/// How much of a frame must be there to pass it on.
fn needed(head: &[u8]) -> usize {
    if head.len() < 8 || head.starts_with(b"AMQP") {
        return 8;
    }
    let size = frame_size(head);
    if size > LONGEST_ATTACH {
        return 8;
    }
    if head.len() < 11 {
        return size.clamp(8, 11);
    }
    if head[4] == 2 && head[8..11] == [0x00, 0x53, code::ATTACH] { size } else { 11 }
}

/// How much of it then passes as it is; all that follows, after what is no frame.
fn left(head: &[u8]) -> u64 {
    match frame_size(head) {
        _ if head.starts_with(b"AMQP") => 0,
        size @ 8.. => size.saturating_sub(head.len()) as u64,
        _ => u64::MAX,
    }
}

fn frame_size(head: &[u8]) -> usize {
    u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize
}

/// The frame with the link's new name; `None` for one that keeps its name.
fn renamed(frame: &[u8], rename: impl Fn(&[u8], bool) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    if frame.get(8..11)? != [0x00, 0x53, code::ATTACH] || frame[4] != 2 {
        return None;
    }
    let (count, items) = match *frame.get(11)? {
        0xc0 => (u32::from(*frame.get(13)?), frame.get(14..)?),
        0xd0 => (u32::from_be_bytes(frame.get(16..20)?.try_into().ok()?), frame.get(20..)?),
        _ => return None,
    };
    let (name, rest) = match *items.first()? {
        0xa1 => items.get(2..)?.split_at_checked(usize::from(*items.get(1)?))?,
        0xb1 => {
            let length = u32::from_be_bytes(items.get(1..5)?.try_into().ok()?);
            items.get(5..)?.split_at_checked(length as usize)?
        }
        _ => return None,
    };
    let name = rename(name, Fields(items).boolean(2)?)?;
    let mut list = BytesMut::new();
    list.put_u32(count);
    list.put_u8(0xb1);
    list.put_u32(name.len() as u32);
    list.put(&name[..]);
    list.put(rest);
    let mut whole = BytesMut::new();
    whole.put_u32((11 + 5 + list.len()) as u32);
    whole.put(&frame[4..11]);
    whole.put_u8(0xd0);
    whole.put_u32(list.len() as u32);
    whole.put(list);
    Some(whole.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[u8] = b"AMQP\x00\x01\x00\x00";
    const EMPTY: &[u8] = &[0, 0, 0, 8, 2, 0, 0, 0];
    const FLOW: &[u8] = &[0, 0, 0, 12, 2, 0, 0, 1, 0x00, 0x53, 0x13, 0x45];

    /// An attach of link "ab" with handle 0.
    fn attach(receiver: bool) -> Vec<u8> {
        let role = if receiver { 0x41 } else { 0x42 };
        vec![0, 0, 0, 20, 2, 0, 0, 1, 0x00, 0x53, 0x12, 0xc0, 7, 3, 0xa1, 2, b'a', b'b', 0x43, role]
    }

    fn passed(renamer: &mut Renamer, bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut out = BytesMut::new();
        for part in bytes.chunks(piece) {
            renamer.take(part, &mut out);
        }
        out.to_vec()
    }

    #[test]
    fn only_the_names_of_receivers_are_marked_whatever_the_pieces() {
        let marked = [
            &[0, 0, 0, 30, 2, 0, 0, 1, 0x00, 0x53, 0x12, 0xd0, 0, 0, 0, 14, 0, 0, 0, 3, 0xb1, 0, 0, 0, 3][..],
            &[b'a', b'b', MARK, 0x43, 0x41],
        ];
        let before = [HEADER, EMPTY, &attach(true), FLOW, &attach(false), EMPTY].concat();
        let after = [HEADER, EMPTY, &marked.concat(), FLOW, &attach(false), EMPTY].concat();
        for piece in [1, 2, 7, 8, 11, 13, 1_000] {
            assert_eq!(passed(&mut Renamer::new(mark), &before, piece), after, "{piece}");
        }
    }

    #[test]
    fn the_mark_is_taken_off_the_answer() {
        let asked = passed(&mut Renamer::new(mark), &attach(true), 100);
        let answered = [&asked[..asked.len() - 1], &[0x42]].concat();
        let told = passed(&mut Renamer::new(unmark), &answered, 3);
        assert_eq!(told.len(), asked.len() - 1);
        assert_eq!(told[25..], [b'a', b'b', 0x43, 0x42]);
    }

    #[test]
    fn frames_that_the_library_cannot_handle_end_the_connection() {
        let disposition = |last: [u8; 4]| {
            let head = [0, 0, 0, 22, 2, 0, 0, 1, 0x00, 0x53, 0x15, 0xc0, 9, 3, 0x41, 0x52, 5, 0x70];
            [&head[..], &last].concat()
        };
        let short = [0, 0, 0, 4, 0x00, 0x53, 0x10, 0xc0];
        for bad in [&short[..], &[0, 0, 0, 8, 1, 0, 0, 0], &disposition([0xff; 4]), &disposition([0, 0, 0, 4])] {
            for piece in [1, 100] {
                let bytes = [HEADER, EMPTY, bad].concat();
                let mut guard = Guard::default();
                assert!(bytes.chunks(piece).any(|part| guard.check(part).is_err()), "{bad:?}");
            }
        }
        let mut guard = Guard::default();
        guard.check(&[HEADER, &attach(true), &disposition([0, 0, 1, 0]), FLOW].concat()).expect("all in order");
    }

    #[test]
    fn bytes_that_are_not_a_frame_pass_with_all_that_follow() {
        for bad in [&[0, 0, 0, 3, 2, 0, 0, 0][..], b"GET / HTTP/1.1\r\n\r\n"] {
            let bytes = [bad, &attach(true)].concat();
            assert_eq!(passed(&mut Renamer::new(mark), &bytes, 5), bytes);
        }
        let cut_short = &attach(true)[..19];
        assert!(passed(&mut Renamer::new(mark), cut_short, 5).is_empty(), "the rest may come");
    }
}
