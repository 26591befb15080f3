//! The credit that the peer's receivers granted, read from the wire. It grants none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::frames::{Fields, Frames, Part, code};
use crate::wire::tap::Observer;

/// The credit that receivers at the other end have granted, link by link, as the wire shows it. The protocol library does not tell, and a message
/// must not be taken from a queue for a receiver that cannot have it while another one can.
#[derive(Default)]
pub struct Credits {
    received: Frames,
    links: HashMap<(u16, u32), Arc<Credit>>,
}

impl Credits {
    /// Of the link that the peer attached as a receiver on this channel with this handle.
    pub fn of(&self, channel: u16, handle: u32) -> Option<Arc<Credit>> {
        self.links.get(&(channel, handle)).cloned()
    }

    fn see(&mut self, channel: u16, code: u8, fields: &Fields) {
        match code {
            code::ATTACH => {
                if let (Some(handle), Some(true)) = (fields.uint(1), fields.boolean(2)) {
                    self.links.insert((channel, handle), Arc::default());
                }
            }
            code::FLOW => {
                let link = fields.uint(4).and_then(|handle| self.links.get(&(channel, handle)));
                if let (Some(link), Some(credit)) = (link, fields.uint(6)) {
                    link.grant(fields.uint(5).unwrap_or(0), credit, fields.boolean(8) == Some(true));
                }
            }
            code::DETACH => {
                fields.uint(0).map(|handle| self.links.remove(&(channel, handle)));
            }
            _ => {}
        }
    }
}

impl Observer for Credits {
    fn written(&mut self, _bytes: &[u8], _now_ns: u64) {}

    fn read(&mut self, bytes: &[u8], _now_ns: u64) {
        let mut frames = std::mem::take(&mut self.received);
        frames.take(bytes, |found| {
            if let Part::Performative { channel, code, fields } = found {
                self.see(channel, code, &fields);
            }
        });
        self.received = frames;
    }
}

/// One link's credit. Counts are those of deliveries since the attach and wrap around (part 2, section 2.6.7).
#[derive(Default)]
pub struct Credit {
    state: Mutex<State>,
    granted: Notify,
}

#[derive(Default)]
struct State {
    sent: u32,
    limit: u32,
}

impl Credit {
    /// Completes when one more message may be sent.
    pub async fn available(&self) {
        loop {
            let granted = self.granted.notified();
            let left = {
                let state = self.state.lock().expect("no holder panics");
                state.limit.wrapping_sub(state.sent) as i32
            };
            if left > 0 {
                return;
            }
            granted.await;
        }
    }

    /// One message is being sent.
    pub fn spend(&self) {
        let mut state = self.state.lock().expect("no holder panics");
        state.sent = state.sent.wrapping_add(1);
    }

    /// A drained sender counts what it has no message for as sent.
    fn grant(&self, delivery_count: u32, link_credit: u32, drain: bool) {
        let mut state = self.state.lock().expect("no holder panics");
        state.limit = delivery_count.wrapping_add(link_credit);
        if drain {
            state.sent = state.limit;
        }
        self.granted.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn credits(flows: &[(u8, u8, bool)]) -> Arc<Credit> {
        let mut credits = Credits::default();
        // An attach as a receiver with handle 3 on channel 1.
        let attach = [0xa1, 1, b'x', 0x52, 3, 0x41];
        let frame = |code: u8, fields: &[u8]| {
            let head =
                [0, 0, 0, 14 + fields.len() as u8, 2, 0, 0, 1, 0x00, 0x53, code, 0xc0, fields.len() as u8 + 1, 9];
            [&head[..], fields].concat()
        };
        credits.read(&frame(code::ATTACH, &attach), 0);
        let credit = credits.of(1, 3).expect("attached");
        for (count, granted, drain) in flows {
            let drain = if *drain { 0x41 } else { 0x42 };
            credits.read(
                &frame(code::FLOW, &[0x43, 0x43, 0x43, 0x43, 0x52, 3, 0x52, *count, 0x52, *granted, 0x40, drain]),
                0,
            );
        }
        assert!(credits.of(1, 4).is_none() && credits.of(0, 3).is_none());
        credit
    }

    fn left(credit: &Credit) -> u32 {
        let mut left = 0;
        while credit.available().now_or_never().is_some() {
            credit.spend();
            left += 1;
        }
        left
    }

    #[test]
    fn credit_is_counted_from_the_deliveries_that_the_receiver_knows_of() {
        assert_eq!(left(&credits(&[])), 0);
        assert_eq!(left(&credits(&[(0, 2, false)])), 2);
        let credit = credits(&[(0, 2, false), (1, 2, false)]);
        assert_eq!(left(&credit), 3, "two were granted, and one more when the first had come");
    }

    #[test]
    fn a_drained_link_has_no_credit_until_it_is_granted_more() {
        assert_eq!(left(&credits(&[(0, 5, true)])), 0);
        assert_eq!(left(&credits(&[(0, 5, true), (5, 1, false)])), 1);
    }
}
