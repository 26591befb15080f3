//! A client's end: one session over one network connection after another. It opens no socket and reads no clock.

mod event;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::Reason;
use super::flow::{Outgoing, Receiver, Sender, Transmission};
use super::framer::{Frame, Framer};
use super::packet::{
    Ack, AckKind, Connack, Connect, Disconnect, Message, Packet, Publish, Qos, Subscribe, SubscriptionOptions, Version,
};
pub use event::{Event, Options};

/// A client.
pub struct Client {
    options: Options,
    state: State,
    framer: Framer,
    sender: Sender,
    receiver: Receiver,
    output: BytesMut,
    /// Bytes ever put into the output of this connection, and of those written.
    put: u64,
    written: u64,
    messages: VecDeque<OnTheWay>,
    events: VecDeque<Event>,
    maximum_packet_size: u32,
    keep_alive_ns: Option<u64>,
    sent_ns: u64,
    pinged_ns: Option<u64>,
    /// Identifiers of SUBSCRIBE that wait for their answer.
    asked: Vec<u16>,
    last_ticket: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ended,
    Connecting,
    Connected,
}

/// A PUBLISH in the output: where it begins, its payload begins and both end.
struct OnTheWay {
    ticket: u64,
    begin: u64,
    payload: u64,
    end: u64,
}

impl Client {
    /// Without a connection.
    pub fn new(options: Options) -> Self {
        Client {
            framer: Framer::new(options.maximum_packet_size),
            options,
            state: State::Ended,
            sender: Sender::default(),
            receiver: Receiver::default(),
            output: BytesMut::new(),
            put: 0,
            written: 0,
            messages: VecDeque::new(),
            events: VecDeque::new(),
            maximum_packet_size: u32::MAX,
            keep_alive_ns: None,
            sent_ns: 0,
            pinged_ns: None,
            asked: Vec::new(),
            last_ticket: 0,
        }
    }

    /// Begins with a new network connection. Messages under way go on in it, if client and server keep the session.
    pub fn connect(&mut self, now_ns: u64) {
        self.framer = Framer::new(self.options.maximum_packet_size);
        self.state = State::Connecting;
        self.output.clear();
        (self.put, self.written) = (0, 0);
        self.messages.clear();
        self.maximum_packet_size = u32::MAX;
        self.keep_alive_ns = interval_ns(self.options.keep_alive_s);
        self.pinged_ns = None;
        self.asked.drain(..).for_each(|id| self.sender.free(id));
        if self.options.clean_start {
            self.lose_session();
        }
        let options = &self.options;
        let whole = super::broker::MAXIMUM_PACKET_SIZE;
        let connect = Connect {
            version: options.version,
            client_id: options.client_id.clone(),
            clean_start: options.clean_start,
            keep_alive_s: options.keep_alive_s,
            session_expiry_s: options.session_expiry_s,
            receive_maximum: options.receive_maximum,
            maximum_packet_size: Some(options.maximum_packet_size).filter(|maximum| *maximum < whole),
            authentication_method: false,
            will: None,
        };
        self.say(&Packet::Connect(Box::new(connect)), now_ns);
    }

    /// Publishes a message; events tell of it by the ticket. With QoS 0 it is dropped without a connection.
    pub fn publish(&mut self, message: Arc<Message>, qos: Qos, retain: bool, now_ns: u64) -> u64 {
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        let outgoing = Outgoing { message, qos, retain, subscriptions: Vec::new(), expires_ns: None, ticket };
        if qos != Qos::AtMostOnce {
            self.sender.push(outgoing);
            self.flush(now_ns);
        } else if self.state == State::Connected {
            self.transmit(0, false, outgoing, now_ns);
        } else {
            self.events.push_back(Event::Lost { ticket });
        }
        ticket
    }

    /// Subscribes to one filter.
    pub fn subscribe(&mut self, filter: &str, qos: Qos, now_ns: u64) {
        if let Some(id) = self.sender.reserve() {
            self.asked.push(id);
            let filters = vec![(filter.to_owned(), SubscriptionOptions::new(qos))];
            self.say(&Packet::Subscribe(Subscribe { id, filters, identifier: None }), now_ns);
        }
    }

    /// Says good-bye; the network connection is to be closed when that is written.
    pub fn disconnect(&mut self, now_ns: u64) {
        if self.state == State::Connected {
            self.say(&Packet::Disconnect(Disconnect { reason: Reason::SUCCESS, session_expiry_s: None }), now_ns);
        }
        self.state = State::Ended;
    }

    /// Bytes have come.
    pub fn receive(&mut self, mut bytes: &[u8], now_ns: u64) {
        while self.state != State::Ended {
            let handled = match self.framer.next(&mut bytes, now_ns) {
                Ok(None) => return,
                Ok(Some(frame)) => self.handle_frame(&frame, now_ns),
                Err(reason) => Err(reason),
            };
            if let Err(reason) = handled {
                self.fail(reason, now_ns);
            }
        }
    }

    /// True without a connection, or once it is to be closed, when the output has been written.
    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// The network connection has ended.
    pub fn closed(&mut self) {
        self.state = State::Ended;
    }

    /// What is to be written.
    pub fn take_output(&mut self) -> Bytes {
        self.output.split().freeze()
    }

    /// So many bytes of what was taken are with the transport.
    pub fn written(&mut self, bytes: usize) {
        self.written += bytes as u64;
        while let Some(OnTheWay { ticket, begin, payload, end }) = self.messages.front() {
            if self.written <= *begin {
                return;
            }
            let payload_bytes = self.written.min(*end).saturating_sub(*payload);
            let whole = self.written >= *end;
            self.events.push_back(Event::Sent { ticket: *ticket, payload_bytes, whole });
            if !whole {
                return;
            }
            self.messages.pop_front();
        }
    }

    /// What has happened, in its order.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn poll_timeout(&self) -> Option<u64> {
        let keep_alive_ns = self.keep_alive_ns.filter(|_| self.state == State::Connected)?;
        Some(self.pinged_ns.unwrap_or(self.sent_ns).saturating_add(keep_alive_ns))
    }

    /// Says PINGREQ if nothing was said for so long, or gives the server up that did not answer the last one within a Keep Alive.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if self.poll_timeout().is_none_or(|at_ns| at_ns > now_ns) {
            return;
        }
        if self.pinged_ns.is_some() {
            self.fail(Reason::KEEP_ALIVE, now_ns);
        } else {
            self.say(&Packet::Pingreq, now_ns);
            self.pinged_ns = Some(now_ns);
        }
    }

    fn handle_frame(&mut self, frame: &Frame, now_ns: u64) -> Result<(), Reason> {
        let began_ns = frame.began_ns;
        match (self.state, frame.decode(self.options.version)?) {
            (State::Connecting, Packet::Connack(connack)) => self.connected(&connack, now_ns),
            (State::Connected, Packet::Publish(publish)) => self.message(publish, now_ns)?,
            (State::Connected, Packet::Ack(ack)) => self.acknowledge(ack, began_ns, now_ns)?,
            (State::Connected, Packet::Suback(id, reasons)) => {
                self.answered(id)?;
                self.events.push_back(Event::Subscribed(reasons));
            }
            (State::Connected, Packet::Pingresp) => self.pinged_ns = None,
            (State::Connected, Packet::Disconnect(disconnect)) => {
                self.state = State::Ended;
                self.events.push_back(Event::Ended(disconnect.reason));
            }
            _ => return Err(Reason::PROTOCOL_ERROR),
        }
        Ok(())
    }

    fn connected(&mut self, connack: &Connack, now_ns: u64) {
        if connack.reason.is_failure() {
            self.state = State::Ended;
            self.events.push_back(Event::Ended(connack.reason));
            return;
        }
        self.state = State::Connected;
        if !connack.session_present {
            self.lose_session();
        }
        if let Some(interval_s) = connack.server_keep_alive_s {
            self.keep_alive_ns = interval_ns(interval_s);
        }
        self.maximum_packet_size = connack.maximum_packet_size.unwrap_or(u32::MAX);
        let receive_maximum = match self.options.version {
            Version::V311 => self.options.receive_maximum,
            Version::V5 => connack.receive_maximum,
        };
        self.sender.resume(receive_maximum);
        self.events.push_back(Event::Connected { session_present: connack.session_present });
        self.flush(now_ns);
    }

    fn message(&mut self, publish: Publish, now_ns: u64) -> Result<(), Reason> {
        // Topic Alias Maximum was not given, so there are none.
        if publish.alias.is_some() {
            return Err(Reason::TOPIC_ALIAS);
        }
        let (is_new, answer) = match publish.qos {
            Qos::AtMostOnce => (true, None),
            Qos::AtLeastOnce => (true, Some(AckKind::Puback)),
            Qos::ExactlyOnce => {
                let receive_maximum = self.options.version.announced(self.options.receive_maximum);
                (self.receiver.publish(publish.id, receive_maximum)?, Some(AckKind::Pubrec))
            }
        };
        if is_new {
            self.events.push_back(Event::Message { message: publish.message, retain: publish.retain });
        }
        if let Some(kind) = answer {
            self.say(&Packet::Ack(Ack { kind, id: publish.id, reason: Reason::SUCCESS }), now_ns);
        }
        Ok(())
    }

    fn acknowledge(&mut self, ack: Ack, began_ns: u64, now_ns: u64) -> Result<(), Reason> {
        let Ack { kind, id, reason } = ack;
        let answer = |kind, known| {
            let reason = if known { Reason::SUCCESS } else { Reason::UNKNOWN_ID };
            Packet::Ack(Ack { kind, id, reason })
        };
        let ended = match kind {
            AckKind::Puback => self.sender.acknowledged(id)?,
            AckKind::Pubrec if reason.is_failure() => self.sender.refused(id),
            AckKind::Pubrec => {
                let ticket = self.sender.received(id)?;
                self.events.extend(ticket.map(|ticket| Event::Received { ticket, began_ns }));
                self.say(&answer(AckKind::Pubrel, ticket.is_some()), now_ns);
                None
            }
            AckKind::Pubrel => {
                let known = self.receiver.release(id);
                self.say(&answer(AckKind::Pubcomp, known), now_ns);
                None
            }
            AckKind::Pubcomp => self.sender.completed(id)?,
        };
        // A server that had completed it before a reconnection says so by not knowing it any more (section 3.7.2.1).
        let reason = if kind == AckKind::Pubcomp { Reason::SUCCESS } else { reason };
        self.events.extend(ended.map(|ended| Event::Acknowledged { ticket: ended.ticket, reason, began_ns }));
        self.flush(now_ns);
        Ok(())
    }

    /// SUBACK, which somebody must have asked for.
    fn answered(&mut self, id: u16) -> Result<(), Reason> {
        let position = self.asked.iter().position(|asked| *asked == id).ok_or(Reason::PROTOCOL_ERROR)?;
        self.asked.swap_remove(position);
        self.sender.free(id);
        Ok(())
    }

    fn lose_session(&mut self) {
        self.receiver = Receiver::default();
        self.events.extend(self.sender.forget().into_iter().map(|ticket| Event::Lost { ticket }));
    }

    /// Sends what may be sent now.
    fn flush(&mut self, now_ns: u64) {
        while self.state == State::Connected {
            match self.sender.poll(now_ns) {
                None => return,
                Some(Transmission::Publish { id, dup, outgoing }) => self.transmit(id, dup, outgoing, now_ns),
                Some(Transmission::Release { id }) => {
                    self.say(&Packet::Ack(Ack { kind: AckKind::Pubrel, id, reason: Reason::SUCCESS }), now_ns);
                }
            }
        }
    }

    /// A message that is too large for the server, or cannot be said, ends here.
    fn transmit(&mut self, id: u16, dup: bool, outgoing: Outgoing, now_ns: u64) {
        let Outgoing { message, qos, retain, ticket, .. } = outgoing;
        let payload_bytes = message.payload.len() as u64;
        let (expiry_s, alias, subscriptions) = (None, None, Vec::new());
        let publish = Publish { message, qos, retain, dup, id, expiry_s, alias, subscriptions };
        let begin = self.put;
        match self.try_say(&Packet::Publish(publish), now_ns) {
            Ok(()) => {
                let (payload, end) = (self.put - payload_bytes, self.put);
                self.messages.push_back(OnTheWay { ticket, begin, payload, end });
            }
            Err(reason) => {
                self.sender.discard(id);
                self.events.push_back(Event::Acknowledged { ticket, reason, began_ns: now_ns });
            }
        }
    }

    /// A packet that every server takes.
    fn say(&mut self, packet: &Packet, now_ns: u64) {
        if let Err(reason) = self.try_say(packet, now_ns) {
            self.state = State::Ended;
            self.events.push_back(Event::Ended(reason));
        }
    }

    fn try_say(&mut self, packet: &Packet, now_ns: u64) -> Result<(), Reason> {
        let encoded = packet.encode(self.options.version)?;
        if encoded.len() > self.maximum_packet_size as usize {
            return Err(Reason::TOO_LARGE);
        }
        self.output.extend_from_slice(&encoded);
        self.put += encoded.len() as u64;
        self.sent_ns = now_ns;
        Ok(())
    }

    /// The server does what it must not, or nothing at all.
    fn fail(&mut self, reason: Reason, now_ns: u64) {
        if self.state == State::Connected && self.options.version == Version::V5 {
            self.say(&Packet::Disconnect(Disconnect { reason, session_expiry_s: None }), now_ns);
        }
        if self.state != State::Ended {
            self.state = State::Ended;
            self.events.push_back(Event::Ended(reason));
        }
    }
}

/// A Keep Alive; 0 is none.
fn interval_ns(seconds: u16) -> Option<u64> {
    (seconds > 0).then(|| u64::from(seconds) * 1_000_000_000)
}
