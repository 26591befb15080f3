//! Whether the server is still there: a ping after a silence. It sends nothing itself.

use super::super::channel::SendId;

/// Pings of an association: an empty confirmable message (RFC 7252, section 4.3) or Ping (RFC 8323, section 5.4) after a silence.
pub struct Pings {
    interval_ns: u64,
    /// When a message last left or came; `None` before the first.
    traffic_ns: Option<u64>,
    pinged: Option<Pinged>,
}

struct Pinged {
    id: SendId,
    /// When the answer is too late; `None` where the message layer says so.
    deadline_ns: Option<u64>,
}

/// What is due.
#[derive(Debug, PartialEq, Eq)]
pub enum Due {
    /// A ping.
    Ping,
    /// The end: the last ping has no answer.
    End,
}

impl Pings {
    /// After each silence of `interval_ns`.
    pub fn new(interval_ns: u64) -> Self {
        Pings { interval_ns, traffic_ns: None, pinged: None }
    }

    /// A message left.
    pub fn sent(&mut self, now_ns: u64) {
        self.traffic_ns = self.traffic_ns.max(Some(now_ns));
    }

    /// Something came: the server is there.
    pub fn received(&mut self, now_ns: u64) {
        self.sent(now_ns);
        self.pinged = None;
    }

    /// A ping left. Over a `stream` its answer has as long as a silence; over datagrams it is retransmitted like any message.
    pub fn pinged(&mut self, now_ns: u64, id: SendId, stream: bool) {
        let deadline_ns = stream.then(|| now_ns.saturating_add(self.interval_ns));
        self.pinged = Some(Pinged { id, deadline_ns });
    }

    /// The ping under way is forgotten.
    pub fn cancel(&mut self) -> Option<SendId> {
        self.pinged.take().map(|pinged| pinged.id)
    }

    /// It is the ping under way.
    pub fn is_ping(&self, id: SendId) -> bool {
        self.pinged.as_ref().is_some_and(|pinged| pinged.id == id)
    }

    /// When something is due, and what.
    pub fn next(&self) -> Option<(u64, Due)> {
        match &self.pinged {
            Some(pinged) => pinged.deadline_ns.map(|deadline_ns| (deadline_ns, Due::End)),
            None => self.traffic_ns.map(|traffic_ns| (traffic_ns.saturating_add(self.interval_ns), Due::Ping)),
        }
    }
}
