//! Writes logs and captures in a thread of its own, so that the disk delays no packet.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{mem, thread};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::{Context, Error};

const CHUNK_BYTES: usize = 64 << 10;
/// Bytes that may wait before captures leave packets out: a second of a disk's silence at 1 Gbit/s on both ends. The memory is locked, so it must
/// not be all there is.
pub(crate) const MAX_CAPTURED: usize = 256 << 20;
/// Bytes that may wait before nothing more is taken: so much more that captures do not crowd out the packet log, which a replay needs all of.
const MAX_WAITING: usize = MAX_CAPTURED / 2 * 3;

/// A file that a thread of its own writes, so that the writer never waits for the disk. Whatever is written in one call is in the file as a whole
/// or not at all, as long as the disk takes whole chunks.
///
/// A write fails, and nothing of it is kept, while too much waits for a disk that is slow.
#[derive(Debug)]
pub struct LogSink {
    id: u64,
    chunk: Vec<u8>,
    jobs: Sender<Job>,
    backlog: Backlog,
}

/// The thread that writes the files.
#[derive(Debug)]
pub struct LogThread {
    jobs: Sender<Job>,
    opened: u64,
    backlog: Backlog,
}

/// Bytes that wait in memory until the disk has taken them, of all files of a [`LogThread`].
#[derive(Clone, Debug, Default)]
pub struct Backlog(Arc<AtomicUsize>);

#[derive(Debug)]
enum Job {
    Open(u64, File),
    Write(u64, Vec<u8>),
    Close(u64, Sender<io::Result<()>>),
    /// Close it unless it is closed.
    GiveUp(u64),
}

impl LogThread {
    /// Start it. It ends with its last sink.
    pub fn start() -> Result<Self, Error> {
        let (jobs, queue) = unbounded();
        let backlog = Backlog::default();
        let written = backlog.clone();
        let thread = thread::Builder::new().name("packet-log".into());
        thread.spawn(move || write(queue, &written)).context("starting a thread")?;
        Ok(Self { jobs, opened: 0, backlog })
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.backlog.clone()
    }

    /// Take over `file`.
    pub fn open(&mut self, file: File) -> LogSink {
        self.opened += 1;
        let _ = self.jobs.send(Job::Open(self.opened, file));
        LogSink {
            id: self.opened,
            chunk: Vec::with_capacity(CHUNK_BYTES),
            jobs: self.jobs.clone(),
            backlog: self.backlog.clone(),
        }
    }
}

impl Backlog {
    /// How many bytes.
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether captures may add to it.
    pub(crate) fn has_room_for_captures(&self) -> bool {
        self.bytes() <= MAX_CAPTURED
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    fn take(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl LogSink {
    /// Write the rest and close the file. The receiver gets the first error, or success, when that is done.
    pub fn close(mut self) -> Receiver<io::Result<()>> {
        let _ = self.flush();
        let (done, wait) = bounded(1);
        let _ = self.jobs.send(Job::Close(self.id, done));
        wait
    }
}

impl Drop for LogSink {
    fn drop(&mut self) {
        let _ = self.jobs.send(Job::GiveUp(self.id));
    }
}

impl Write for LogSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.backlog.bytes() > MAX_WAITING {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "the disk is too slow"));
        }
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        // The next is about as long, unless more comes.
        let next = Vec::with_capacity(self.chunk.len() + 1024);
        let chunk = mem::replace(&mut self.chunk, next);
        self.backlog.add(chunk.len());
        let _ = self.jobs.send(Job::Write(self.id, chunk));
        Ok(())
    }
}

fn write(queue: Receiver<Job>, backlog: &Backlog) {
    let mut files: HashMap<u64, (File, io::Result<()>)> = HashMap::new();
    for job in queue {
        match job {
            Job::Open(id, file) => {
                files.insert(id, (file, Ok(())));
            }
            Job::Write(id, chunk) => {
                if let Some((file, result)) = files.get_mut(&id)
                    && result.is_ok()
                {
                    *result = file.write_all(&chunk);
                }
                backlog.take(chunk.len());
            }
            Job::Close(id, done) => {
                let result = files.remove(&id).map_or(Ok(()), |(_, result)| result);
                let _ = done.send(result);
            }
            Job::GiveUp(id) => drop(files.remove(&id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn everything_written_is_in_the_file_when_close_says_so() {
        let mut thread = LogThread::start().unwrap();
        let file = tempfile::tempfile().unwrap();
        let mut sink = thread.open(file.try_clone().unwrap());
        let bytes: Vec<u8> = (0..200_000u32).map(|value| value as u8).collect();
        for part in bytes.chunks(777) {
            sink.write_all(part).unwrap();
        }
        sink.close().recv().unwrap().unwrap();
        assert_eq!(read(file), bytes);
        assert_eq!(thread.backlog().bytes(), 0);
    }

    #[test]
    fn the_bytes_that_the_disk_has_not_written_are_counted() {
        let (read_end, write_end) = io::pipe().unwrap();
        let mut thread = LogThread::start().unwrap();
        let mut sink = thread.open(File::from(std::os::fd::OwnedFd::from(write_end)));
        // Nobody reads the pipe, which holds 64 KiB.
        sink.write_all(&vec![7; 4 * CHUNK_BYTES]).unwrap();
        assert_eq!(thread.backlog().bytes(), 4 * CHUNK_BYTES);
        drop(read_end);
        sink.close().recv().unwrap().unwrap_err();
        assert_eq!(thread.backlog().bytes(), 0);
    }

    #[test]
    fn while_too_much_waits_for_the_disk_nothing_more_is_taken() {
        let mut thread = LogThread::start().unwrap();
        let file = tempfile::tempfile().unwrap();
        let mut sink = thread.open(file.try_clone().unwrap());
        sink.write_all(b"before ").unwrap();
        thread.backlog().add(MAX_WAITING + 1);
        assert_eq!(sink.write_all(b"meanwhile ").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        thread.backlog().take(MAX_WAITING + 1);
        sink.write_all(b"after").unwrap();
        sink.close().recv().unwrap().unwrap();
        assert_eq!(read(file), b"before after");
    }

    #[test]
    fn a_full_disk_is_reported_on_close() {
        let mut thread = LogThread::start().unwrap();
        let mut sink = thread.open(File::options().write(true).open("/dev/full").unwrap());
        sink.write_all(b"record").unwrap();
        let error = sink.close().recv().unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    fn read(mut file: File) -> Vec<u8> {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }
}
