//! The two directions of messages over one session (sections 4.3, 4.4, 4.6 and 4.9), the same at a client and at a broker. Both outlive their
//! network connection with the session. They send nothing themselves.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::Reason;
use super::packet::{Message, Qos};

/// A message on its way to the other end.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// The message.
    pub message: Arc<Message>,
    /// Quality of service of its transmission.
    pub qos: Qos,
    /// RETAIN.
    pub retain: bool,
    /// Subscription Identifiers.
    pub subscriptions: Vec<u32>,
    /// When it is not worth sending any more.
    pub expires_ns: Option<u64>,
    /// By which its publisher knows it.
    pub ticket: u64,
}

/// What is to be sent next.
#[derive(Debug, PartialEq)]
pub enum Transmission {
    /// PUBLISH of QoS 1 or 2.
    Publish {
        /// Packet identifier.
        id: u16,
        /// It was sent before, over another connection.
        dup: bool,
        /// What.
        outgoing: Outgoing,
    },
    /// PUBREL.
    Release {
        /// Packet identifier.
        id: u16,
    },
}

/// Messages of QoS 1 and 2 on their way to the other end, in order.
#[derive(Debug)]
pub struct Sender {
    waiting: VecDeque<Outgoing>,
    /// Sent over an earlier connection; to be sent again before anything else.
    again: VecDeque<InFlight>,
    /// Sent over this connection, in the order of their first sending.
    in_flight: VecDeque<InFlight>,
    identifiers: HashSet<u16>,
    last_identifier: u16,
    receive_maximum: u16,
    unacknowledged: u16,
}

#[derive(Debug)]
struct InFlight {
    id: u16,
    outgoing: Outgoing,
    /// PUBREC has come: the other end has the message.
    received: bool,
    /// Its PUBLISH was sent over this connection, and so counts against the Receive Maximum until it is acknowledged.
    counted: bool,
}

impl Default for Sender {
    fn default() -> Self {
        Sender {
            waiting: VecDeque::new(),
            again: VecDeque::new(),
            in_flight: VecDeque::new(),
            identifiers: HashSet::new(),
            last_identifier: 0,
            receive_maximum: u16::MAX,
            unacknowledged: 0,
        }
    }
}

impl Sender {
    /// Begins a new connection, whose other end has this Receive Maximum: what was not acknowledged is to be sent again, in its order.
    pub fn resume(&mut self, receive_maximum: u16) {
        self.in_flight.iter_mut().for_each(|in_flight| in_flight.counted = false);
        // What was sent again comes before what still had to be.
        self.in_flight.append(&mut self.again);
        std::mem::swap(&mut self.in_flight, &mut self.again);
        self.receive_maximum = receive_maximum;
        self.unacknowledged = 0;
    }

    /// Takes a message to be sent after all others.
    pub fn push(&mut self, outgoing: Outgoing) {
        self.waiting.push_back(outgoing);
    }

    /// How many messages wait for their first transmission.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// An identifier for a packet that is no message; `None` if all are in use.
    pub fn reserve(&mut self) -> Option<u16> {
        (self.identifiers.len() < usize::from(u16::MAX)).then(|| self.free_identifier())
    }

    /// Takes back what [`reserve`](Self::reserve) gave.
    pub fn free(&mut self, id: u16) {
        self.identifiers.remove(&id);
    }

    /// The other end knows nothing of this session: what was sent cannot be completed. Its tickets.
    pub fn forget(&mut self) -> Vec<u64> {
        let forgotten: Vec<InFlight> = self.again.drain(..).chain(self.in_flight.drain(..)).collect();
        for in_flight in &forgotten {
            self.identifiers.remove(&in_flight.id);
            self.unacknowledged -= u16::from(in_flight.counted);
        }
        forgotten.into_iter().map(|in_flight| in_flight.outgoing.ticket).collect()
    }

    /// What is to be sent now; `None` until an acknowledgement makes room. Messages that expired before their first transmission are dropped.
    pub fn poll(&mut self, now_ns: u64) -> Option<Transmission> {
        let may_publish = self.unacknowledged < self.receive_maximum;
        if let Some(first) = self.again.front() {
            if !first.received && !may_publish {
                return None;
            }
            let mut in_flight = self.again.pop_front()?;
            let (id, outgoing) = (in_flight.id, in_flight.outgoing.clone());
            let release = in_flight.received;
            in_flight.counted = !release;
            self.in_flight.push_back(in_flight);
            if release {
                return Some(Transmission::Release { id });
            }
            self.unacknowledged += 1;
            return Some(Transmission::Publish { id, dup: true, outgoing });
        }
        if !may_publish || self.identifiers.len() == usize::from(u16::MAX) {
            return None;
        }
        let outgoing = loop {
            let outgoing = self.waiting.pop_front()?;
            if outgoing.expires_ns.is_none_or(|expires_ns| expires_ns > now_ns) {
                break outgoing;
            }
        };
        let id = self.free_identifier();
        self.in_flight.push_back(InFlight { id, outgoing: outgoing.clone(), received: false, counted: true });
        self.unacknowledged += 1;
        Some(Transmission::Publish { id, dup: false, outgoing })
    }

    /// Takes PUBACK. The message that it ends; `None` if there is none with that identifier.
    pub fn acknowledged(&mut self, id: u16) -> Result<Option<Outgoing>, Reason> {
        match self.find(id) {
            Some(in_flight) if in_flight.outgoing.qos == Qos::AtLeastOnce => Ok(self.remove(id)),
            Some(_) => Err(Reason::PROTOCOL_ERROR),
            None => Ok(None),
        }
    }

    /// Takes PUBREC. The ticket of its message, which is to be released; `None` if there is none with that identifier.
    pub fn received(&mut self, id: u16) -> Result<Option<u64>, Reason> {
        match self.find(id) {
            Some(in_flight) if in_flight.outgoing.qos == Qos::ExactlyOnce => {
                in_flight.received = true;
                Ok(Some(in_flight.outgoing.ticket))
            }
            Some(_) => Err(Reason::PROTOCOL_ERROR),
            None => Ok(None),
        }
    }

    /// Takes PUBREC that refuses the message, which ends it.
    pub fn refused(&mut self, id: u16) -> Option<Outgoing> {
        self.remove(id)
    }

    /// Takes PUBCOMP. The message that it ends; `None` if there is none with that identifier.
    pub fn completed(&mut self, id: u16) -> Result<Option<Outgoing>, Reason> {
        match self.find(id) {
            Some(in_flight) if in_flight.received => Ok(self.remove(id)),
            Some(_) => Err(Reason::PROTOCOL_ERROR),
            None => Ok(None),
        }
    }

    /// Gives a message up that cannot be sent to this end, as if it had been acknowledged (section 3.1.2.11.4).
    pub fn discard(&mut self, id: u16) {
        self.remove(id);
    }

    fn find(&mut self, id: u16) -> Option<&mut InFlight> {
        self.in_flight.iter_mut().chain(&mut self.again).find(|in_flight| in_flight.id == id)
    }

    fn remove(&mut self, id: u16) -> Option<Outgoing> {
        let in_flight = [&mut self.in_flight, &mut self.again].into_iter().find_map(|queue| {
            let position = queue.iter().position(|in_flight| in_flight.id == id)?;
            queue.remove(position)
        })?;
        self.identifiers.remove(&id);
        self.unacknowledged -= u16::from(in_flight.counted);
        Some(in_flight.outgoing)
    }

    /// An identifier that is not in use; there is one.
    fn free_identifier(&mut self) -> u16 {
        loop {
            self.last_identifier = self.last_identifier.checked_add(1).unwrap_or(1);
            if self.identifiers.insert(self.last_identifier) {
                return self.last_identifier;
            }
        }
    }
}

/// Identifiers of QoS 2 messages that came and were not yet released: by them a message that is sent again is known.
#[derive(Debug, Default)]
pub struct Receiver {
    unreleased: HashSet<u16>,
}

impl Receiver {
    /// Takes PUBLISH of QoS 2: true if it is new, false if it has come before. More at a time than `receive_maximum` are refused.
    pub fn publish(&mut self, id: u16, receive_maximum: u16) -> Result<bool, Reason> {
        if self.unreleased.contains(&id) {
            return Ok(false);
        }
        if self.unreleased.len() >= usize::from(receive_maximum) {
            return Err(Reason::RECEIVE_MAXIMUM);
        }
        Ok(self.unreleased.insert(id))
    }

    /// Takes PUBREL: false if no message has that identifier.
    pub fn release(&mut self, id: u16) -> bool {
        self.unreleased.remove(&id)
    }
}
