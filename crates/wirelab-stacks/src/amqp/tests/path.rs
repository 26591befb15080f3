//! A path between two ends that takes half a round trip each way and keeps what is said.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::mpsc;
use tokio::time::{Duration, Instant, sleep_until};

use super::super::frames::{Fields, Frames, Part};

pub const RTT: Duration = Duration::from_millis(50);

#[derive(Clone, Default)]
pub struct Path {
    near: Arc<Mutex<Vec<String>>>,
    far: Arc<Mutex<Vec<String>>>,
    silent: Arc<AtomicBool>,
}

impl Path {
    /// The two ends of a new connection.
    pub fn ends(&self) -> (DuplexStream, DuplexStream) {
        let ((near, near_inner), (far, far_inner)) = (duplex(1 << 20), duplex(1 << 20));
        let ((near_read, near_write), (far_read, far_write)) = (split(near_inner), split(far_inner));
        carry(near_read, far_write, self.near.clone(), self.silent.clone());
        carry(far_read, near_write, self.far.clone(), self.silent.clone());
        (near, far)
    }

    /// What the near end has said so far, empty frames aside.
    pub fn said_near(&self) -> Vec<String> {
        self.near.lock().expect("unpoisoned").clone()
    }

    /// The same of the far end.
    pub fn said_far(&self) -> Vec<String> {
        self.far.lock().expect("unpoisoned").clone()
    }

    /// Loses everything from now on.
    pub fn silence(&self) {
        self.silent.store(true, Ordering::Relaxed);
    }
}

fn carry(
    mut from: ReadHalf<DuplexStream>,
    mut to: WriteHalf<DuplexStream>,
    said: Arc<Mutex<Vec<String>>>,
    silent: Arc<AtomicBool>,
) {
    let (sender, mut under_way) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut frames = Frames::default();
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            frames.take(&buffer[..length], |found| match found {
                Part::Header => said.lock().expect("unpoisoned").push("header".to_owned()),
                Part::Performative { code, fields, .. } => {
                    said.lock().expect("unpoisoned").push(words(code, &fields));
                }
                Part::Payload(_) => {}
            });
            let _ = sender.send((Instant::now() + RTT / 2, buffer[..length].to_vec()));
        }
    });
    tokio::spawn(async move {
        while let Some((due, bytes)) = under_way.recv().await {
            sleep_until(due).await;
            if !silent.load(Ordering::Relaxed) && to.write_all(&bytes).await.is_err() {
                return;
            }
        }
        let _ = to.shutdown().await;
    });
}

fn words(code: u8, fields: &Fields) -> String {
    let settled = |field| if fields.boolean(field) == Some(true) { "settled" } else { "unsettled" };
    match code {
        0x10 => "open".to_owned(),
        0x11 => "begin".to_owned(),
        0x12 => "attach".to_owned(),
        0x13 => "flow".to_owned(),
        0x14 => format!("transfer {}", settled(4)),
        0x15 => {
            let by = if fields.boolean(0) == Some(true) { "receiver" } else { "sender" };
            let state = if fields.code(4) == Some(0x24) { "accepted" } else { "another state" };
            format!("{state} by {by}, {}", settled(3))
        }
        0x16 => "detach".to_owned(),
        0x17 => "end".to_owned(),
        0x18 => "close".to_owned(),
        0x40 => "sasl mechanisms".to_owned(),
        0x41 => "sasl init".to_owned(),
        0x44 => "sasl outcome".to_owned(),
        other => format!("{other:#x}"),
    }
}
