//! The message layer of RFC 7252, section 4: acknowledgements, retransmission, deduplication. It knows no request.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use coap_lite::{MessageType, Packet};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::channel::{Incoming, Receipt, SendEvent, SendId};
use super::memory::{Answer, MessageIds, RecentMessages};
use super::message::{Class, Malformed, class, decode, empty, encode};
use super::parameters::{Parameters, nanos};

/// The message layer of RFC 7252, section 4, towards one peer: confirmable and non-confirmable messages over datagrams that may be lost,
/// repeated or reordered.
///
/// NSTART counts confirmable messages without their acknowledgement and non-confirmable requests without an answer; the latter are given up
/// after MAX_TRANSMIT_WAIT like the former. PROBING_RATE holds back non-confirmable requests after earlier ones went unanswered: what those
/// had in bytes must first have been worth its time at that rate. Responses and notifications that are not confirmable wait for neither.
pub struct MessageLayer {
    parameters: Arc<Parameters>,
    random: ChaCha8Rng,
    ids: MessageIds,
    next_send: u64,
    waiting: VecDeque<Waiting>,
    outstanding: BTreeMap<SendId, Outstanding>,
    /// Non-confirmable messages that may still be answered with a Reset, oldest first.
    resettable: VecDeque<(u64, u16, SendId)>,
    recent: RecentMessages,
    silence: Option<Silence>,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<SendEvent>,
}

struct Waiting {
    id: SendId,
    packet: Packet,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Confirmable,
    /// A non-confirmable request, whose answer is awaited.
    Request,
    /// Any other non-confirmable message.
    Unanswered,
}

struct Outstanding {
    message_id: u16,
    bytes: Vec<u8>,
    sent_ns: u64,
    deadline_ns: u64,
    /// `None` for a non-confirmable request, which is not sent again.
    retransmission: Option<Retransmission>,
    superseded_by: Option<Packet>,
}

struct Retransmission {
    first_wait_ns: u64,
    count: u32,
}

/// What went to the peer since it was last heard, and was given up.
struct Silence {
    since_ns: u64,
    bytes: u64,
}

impl MessageLayer {
    /// Of an association that begins; `random` draws its first message ID and every first wait.
    pub fn new(parameters: Arc<Parameters>, mut random: ChaCha8Rng) -> Self {
        let ids = MessageIds::new(random.next_u32() as u16);
        MessageLayer {
            parameters,
            random,
            ids,
            next_send: 0,
            waiting: VecDeque::new(),
            outstanding: BTreeMap::new(),
            resettable: VecDeque::new(),
            recent: RecentMessages::default(),
            silence: None,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Sends a message as soon as its turn comes.
    pub fn send(&mut self, now_ns: u64, packet: Packet, confirmable: bool) -> SendId {
        let id = SendId(self.next_send);
        self.next_send += 1;
        let kind = match class(&packet) {
            _ if confirmable => Kind::Confirmable,
            Class::Request => Kind::Request,
            _ => Kind::Unanswered,
        };
        self.waiting.push_back(Waiting { id, packet, kind });
        self.send_waiting(now_ns);
        id
    }

    /// Sends an empty confirmable message, which a Reset answers (section 4.3). It waits for no turn: it is no request.
    pub fn ping(&mut self, now_ns: u64) -> SendId {
        let id = SendId(self.next_send);
        self.next_send += 1;
        let waiting = Waiting { id, packet: empty(MessageType::Confirmable, 0), kind: Kind::Confirmable };
        if let Err(waiting) = self.transmit(now_ns, waiting) {
            self.waiting.push_front(waiting);
        }
        id
    }

    /// Sends `packet` in place of a message that is waiting or awaits its acknowledgement: with the next retransmission, which keeps its instant
    /// and its count, or when the acknowledgement comes (RFC 7641, section 4.5.2). Gives it back if the message is neither.
    pub fn supersede(&mut self, id: SendId, packet: Packet) -> Result<(), Packet> {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.id == id) {
            waiting.packet = packet;
        } else if let Some(outstanding) = self.outstanding.get_mut(&id) {
            outstanding.superseded_by = Some(packet);
        } else {
            return Err(packet);
        }
        Ok(())
    }

    /// Nothing more is expected for a message: it is answered.
    pub fn answered(&mut self, now_ns: u64, id: SendId) {
        self.outstanding.remove(&id);
        self.send_waiting(now_ns);
    }

    /// Nobody waits for the answers any more: the messages are not sent (again).
    pub fn cancel(&mut self, now_ns: u64, ids: &BTreeSet<SendId>) {
        self.waiting.retain(|waiting| !ids.contains(&waiting.id));
        for id in ids {
            if let Some(outstanding) = self.outstanding.remove(id) {
                self.note_silence(&outstanding);
            }
        }
        self.send_waiting(now_ns);
    }

    /// Takes a datagram; [`send_waiting`](Self::send_waiting) is to follow. A confirmable message that is not one is answered with a Reset; a
    /// duplicate gets what its original got.
    pub fn handle_datagram(&mut self, now_ns: u64, bytes: &[u8]) -> Result<Option<Incoming>, Malformed> {
        let packet = self.decode(bytes).inspect_err(|malformed| {
            if let Malformed::Format { confirmable: true, message_id } = malformed {
                self.transmits.push_back(encode(&empty(MessageType::Reset, *message_id)));
            }
        })?;
        self.silence = None;
        let incoming = match packet.header.get_type() {
            MessageType::Confirmable if class(&packet) == Class::Empty => {
                // A ping (section 4.3), which its Reset answers.
                self.transmits.push_back(encode(&empty(MessageType::Reset, packet.header.message_id)));
                None
            }
            MessageType::Acknowledgement => self.handle_acknowledgement(packet),
            MessageType::Reset => self.handle_reset(now_ns, packet.header.message_id),
            kind => self.handle_message(now_ns, packet, kind == MessageType::Confirmable),
        };
        Ok(incoming)
    }

    /// Sends what waited and may be sent by now. What came, or was given up, may first be a reason to cancel some of it.
    pub fn send_waiting(&mut self, now_ns: u64) {
        let mut closing = VecDeque::new();
        while let Some(waiting) = self.waiting.pop_front() {
            // In order among those that wait for a turn: what is not awaited by anyone passes them.
            let in_turn = waiting.kind == Kind::Unanswered || closing.is_empty();
            if in_turn && self.may_send(now_ns, waiting.kind) {
                if let Err(waiting) = self.transmit(now_ns, waiting) {
                    closing.push_back(waiting);
                }
            } else {
                closing.push_back(waiting);
            }
        }
        self.waiting = closing;
    }

    /// Acknowledges a confirmable message without a response.
    pub fn acknowledge(&mut self, receipt: Receipt) {
        if receipt.confirmable {
            self.answer(receipt, &empty(MessageType::Acknowledgement, receipt.message_id));
        }
    }

    /// Piggy-backs a response on the acknowledgement of a confirmable message. `again` says that a duplicate of the message is to be worked on
    /// anew instead of being answered from memory (section 4.5 allows that where it does no harm).
    pub fn piggyback(&mut self, receipt: Receipt, mut packet: Packet, again: bool) {
        packet.header.set_type(MessageType::Acknowledgement);
        packet.header.message_id = receipt.message_id;
        self.answer(receipt, &packet);
        if again {
            self.recent.forget(receipt.message_id);
        }
    }

    /// Rejects a message with a Reset, as one for which the recipient lacks the context (section 4.2; 4.3 allows it for a non-confirmable one).
    pub fn reject(&mut self, receipt: Receipt) {
        self.answer(receipt, &empty(MessageType::Reset, receipt.message_id));
    }

    /// Sends again, or gives up, what is due; [`send_waiting`](Self::send_waiting) is to follow.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        let due: Vec<SendId> =
            self.outstanding.iter().filter(|(_, sent)| sent.deadline_ns <= now_ns).map(|(id, _)| *id).collect();
        for id in due {
            if !self.retransmit(now_ns, id) {
                let outstanding = self.outstanding.remove(&id).expect("it is due");
                self.note_silence(&outstanding);
                let transmissions = outstanding.retransmission.map_or(1, |sent| sent.count + 1);
                self.events.push_back(SendEvent::GaveUp { id, transmissions });
            }
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn poll_timeout(&self) -> Option<u64> {
        let deadlines = self.outstanding.values().map(|sent| sent.deadline_ns);
        let has_room = self.outstanding.len() < self.parameters.nstart;
        let next = self.waiting.iter().find(|waiting| has_room || waiting.kind == Kind::Unanswered);
        let closing = next.and_then(|waiting| {
            let silence = self.silence.as_ref().filter(|_| waiting.kind == Kind::Request);
            silence.map(|silence| self.probing_allowed_ns(silence)).max(self.ids.free_at_ns())
        });
        deadlines.chain(closing).min()
    }

    /// The next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// What happened to messages sent.
    pub fn poll_event(&mut self) -> Option<SendEvent> {
        self.events.pop_front()
    }

    /// Nothing is under way or remembered: a new layer would do as well.
    pub fn is_idle(&mut self, now_ns: u64) -> bool {
        self.outstanding.is_empty() && self.waiting.is_empty() && self.recent.is_empty(now_ns)
    }

    /// The next random number of the association.
    pub fn draw(&mut self) -> u64 {
        self.random.next_u64()
    }

    fn decode(&self, bytes: &[u8]) -> Result<Packet, Malformed> {
        let packet = decode(bytes)?;
        let message_id = packet.header.message_id;
        let of_type = match (packet.header.get_type(), class(&packet)) {
            // Signals are of CoAP over TCP.
            (_, Class::Signal) | (MessageType::Acknowledgement, Class::Request) => false,
            (MessageType::NonConfirmable, Class::Empty) => false,
            (MessageType::Reset, other) => other == Class::Empty,
            _ => true,
        };
        let confirmable = packet.header.get_type() == MessageType::Confirmable;
        if of_type { Ok(packet) } else { Err(Malformed::Format { confirmable, message_id }) }
    }

    fn handle_acknowledgement(&mut self, packet: Packet) -> Option<Incoming> {
        let id = self.confirmable_with(packet.header.message_id)?;
        let outstanding = self.outstanding.remove(&id).expect("just found");
        if let Some(packet) = outstanding.superseded_by {
            // Its name is now that of a message which is yet to be acknowledged.
            self.waiting.push_front(Waiting { id, packet, kind: Kind::Confirmable });
            return None;
        }
        let response = (class(&packet) == Class::Response).then_some(packet);
        Some(Incoming::Acknowledged { id, response })
    }

    fn handle_reset(&mut self, now_ns: u64, message_id: u16) -> Option<Incoming> {
        self.expire_resettable(now_ns);
        let id = self
            .confirmable_with(message_id)
            .or_else(|| self.resettable.iter().find(|(_, sent, _)| *sent == message_id).map(|(_, _, id)| *id))?;
        self.outstanding.remove(&id);
        Some(Incoming::Reset { id })
    }

    fn handle_message(&mut self, now_ns: u64, packet: Packet, confirmable: bool) -> Option<Incoming> {
        let message_id = packet.header.message_id;
        if let Some(answer) = self.recent.get(now_ns, message_id) {
            if let Answer::Bytes(bytes) = answer {
                self.transmits.push_back(bytes.clone());
            }
            return None;
        }
        let (lifetime, answer) = match confirmable {
            true => (self.parameters.exchange_lifetime(), Answer::Pending),
            false => (self.parameters.non_lifetime(), Answer::Nothing),
        };
        self.recent.insert(now_ns, nanos(lifetime), message_id, answer);
        Some(Incoming::Message { packet, receipt: Receipt { message_id, confirmable } })
    }

    fn answer(&mut self, receipt: Receipt, packet: &Packet) {
        let bytes = encode(packet);
        if receipt.confirmable {
            self.recent.answer(receipt.message_id, &bytes);
        }
        self.transmits.push_back(bytes);
    }

    fn confirmable_with(&self, message_id: u16) -> Option<SendId> {
        let matches = |sent: &Outstanding| sent.message_id == message_id && sent.retransmission.is_some();
        self.outstanding.iter().find(|(_, sent)| matches(sent)).map(|(id, _)| *id)
    }

    /// False if the message has been sent as often as it may be.
    fn retransmit(&mut self, now_ns: u64, id: SendId) -> bool {
        let max_retransmit = self.parameters.max_retransmit;
        let outstanding = self.outstanding.get_mut(&id).expect("it is due");
        let Some(sent) = outstanding.retransmission.as_mut().filter(|sent| sent.count < max_retransmit) else {
            return false;
        };
        sent.count += 1;
        outstanding.deadline_ns = now_ns.saturating_add(self.parameters.wait_ns(sent.first_wait_ns, sent.count));
        if let Some(mut newer) = outstanding.superseded_by.take() {
            match self.ids.take(now_ns, nanos(self.parameters.exchange_lifetime())) {
                Some(message_id) => {
                    newer.header.set_type(MessageType::Confirmable);
                    newer.header.message_id = message_id;
                    (outstanding.message_id, outstanding.bytes) = (message_id, encode(&newer));
                }
                None => outstanding.superseded_by = Some(newer),
            }
        }
        self.transmits.push_back(outstanding.bytes.clone());
        self.events.push_back(SendEvent::Retransmitted { id });
        true
    }

    fn may_send(&self, now_ns: u64, kind: Kind) -> bool {
        let probing = |silence: &Silence| kind != Kind::Request || self.probing_allowed_ns(silence) <= now_ns;
        kind == Kind::Unanswered
            || (self.outstanding.len() < self.parameters.nstart && self.silence.as_ref().is_none_or(probing))
    }

    fn transmit(&mut self, now_ns: u64, mut waiting: Waiting) -> Result<(), Waiting> {
        let confirmable = waiting.kind == Kind::Confirmable;
        let lifetime_ns = nanos(match confirmable {
            true => self.parameters.exchange_lifetime(),
            false => self.parameters.non_lifetime(),
        });
        let Some(message_id) = self.ids.take(now_ns, lifetime_ns) else { return Err(waiting) };
        let kind = if confirmable { MessageType::Confirmable } else { MessageType::NonConfirmable };
        waiting.packet.header.set_type(kind);
        waiting.packet.header.message_id = message_id;
        let (id, bytes) = (waiting.id, encode(&waiting.packet));
        let retransmission = confirmable.then(|| Retransmission { first_wait_ns: self.first_wait_ns(), count: 0 });
        let wait_ns = retransmission
            .as_ref()
            .map_or(nanos(self.parameters.max_transmit_wait()), |sent| self.parameters.wait_ns(sent.first_wait_ns, 0));
        if !confirmable {
            self.expire_resettable(now_ns);
            self.resettable.push_back((now_ns.saturating_add(lifetime_ns), message_id, id));
        }
        self.transmits.push_back(bytes.clone());
        self.events.push_back(SendEvent::Sent { id, at_ns: now_ns });
        if waiting.kind != Kind::Unanswered {
            let (sent_ns, deadline_ns) = (now_ns, now_ns.saturating_add(wait_ns));
            let sent = Outstanding { message_id, bytes, sent_ns, deadline_ns, retransmission, superseded_by: None };
            self.outstanding.insert(id, sent);
        }
        Ok(())
    }

    fn expire_resettable(&mut self, now_ns: u64) {
        while self.resettable.front().is_some_and(|(until_ns, ..)| *until_ns <= now_ns) {
            self.resettable.pop_front();
        }
    }

    /// Between ACK_TIMEOUT and ACK_TIMEOUT * ACK_RANDOM_FACTOR.
    fn first_wait_ns(&mut self) -> u64 {
        let shortest_ns = nanos(self.parameters.ack_timeout);
        let span_ns = nanos(self.parameters.longest_first_wait()).saturating_sub(shortest_ns);
        let share = u128::from(self.random.next_u64());
        shortest_ns.saturating_add(((u128::from(span_ns) * share) >> 64) as u64)
    }

    fn note_silence(&mut self, given_up: &Outstanding) {
        if given_up.retransmission.is_none() {
            let silence = self.silence.get_or_insert(Silence { since_ns: given_up.sent_ns, bytes: 0 });
            silence.bytes += given_up.bytes.len() as u64;
        }
    }

    fn probing_allowed_ns(&self, silence: &Silence) -> u64 {
        let worth_ns = u128::from(silence.bytes) * 1_000_000_000 / u128::from(self.parameters.probing_rate.max(1));
        silence.since_ns.saturating_add(u64::try_from(worth_ns).unwrap_or(u64::MAX))
    }
}
