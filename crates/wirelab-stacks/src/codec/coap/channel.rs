//! What carries CoAP messages: datagrams, or a stream. It opens no socket.

use std::collections::BTreeSet;

use coap_lite::Packet;

use super::framing::{Framing, StreamError};
use super::message::Malformed;
use super::message_layer::MessageLayer;

/// What carries messages between two endpoints: datagrams with the message layer of RFC 7252, or a stream with the framing of RFC 8323.
pub enum Channel {
    /// UDP or DTLS.
    Datagrams(MessageLayer),
    /// TCP or TLS.
    Stream(Framing),
}

/// A message that was handed over to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SendId(pub u64);

/// What an answer to a message that came needs to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its message ID; 0 over a stream.
    pub message_id: u16,
    /// It wants an acknowledgement; never over a stream.
    pub confirmable: bool,
}

/// What came from the peer.
#[derive(Debug)]
pub enum Incoming {
    /// A request or a response, new and to be acknowledged or rejected.
    Message {
        /// The message.
        packet: Packet,
        /// For its answer.
        receipt: Receipt,
    },
    /// A confirmable message of ours was acknowledged.
    Acknowledged {
        /// Which.
        id: SendId,
        /// The response that was piggy-backed.
        response: Option<Packet>,
    },
    /// The peer lacks the context of a message of ours.
    Reset {
        /// Which.
        id: SendId,
    },
    /// The stream is over, or will be: nothing new is to be sent.
    Closed(StreamError),
}

/// What happened to a message of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendEvent {
    /// It left for the first time.
    Sent {
        /// Which.
        id: SendId,
        /// When.
        at_ns: u64,
    },
    /// It left once more.
    Retransmitted {
        /// Which.
        id: SendId,
    },
    /// Its acknowledgement (or answer, of a non-confirmable request) did not come.
    GaveUp {
        /// Which.
        id: SendId,
        /// How often it left.
        transmissions: u32,
    },
}

impl Channel {
    /// Takes what arrived: one datagram, or any bytes of a stream. What it holds is handed to `take`.
    pub fn receive(
        &mut self,
        now_ns: u64,
        bytes: &[u8],
        mut take: impl FnMut(&mut Self, Incoming),
    ) -> Result<(), Malformed> {
        match self {
            Channel::Datagrams(layer) => {
                if let Some(incoming) = layer.handle_datagram(now_ns, bytes)? {
                    take(self, incoming);
                }
            }
            Channel::Stream(framing) => {
                framing.append(bytes);
                while let Channel::Stream(framing) = self
                    && let Some(incoming) = framing.next_incoming()
                {
                    take(self, incoming);
                }
            }
        }
        Ok(())
    }

    /// Sends a message as soon as it may be.
    pub fn send(&mut self, now_ns: u64, packet: Packet, confirmable: bool) -> SendId {
        match self {
            Channel::Datagrams(layer) => layer.send(now_ns, packet, confirmable),
            Channel::Stream(framing) => framing.send(now_ns, &packet),
        }
    }

    /// Asks whether the peer is there: an empty confirmable message (RFC 7252, section 4.3), or Ping (RFC 8323, section 5.4).
    pub fn ping(&mut self, now_ns: u64) -> SendId {
        match self {
            Channel::Datagrams(layer) => layer.ping(now_ns),
            Channel::Stream(framing) => framing.ping(now_ns),
        }
    }

    /// See [`MessageLayer::supersede`].
    pub fn supersede(&mut self, id: SendId, packet: Packet) -> Result<(), Packet> {
        match self {
            Channel::Datagrams(layer) => layer.supersede(id, packet),
            Channel::Stream(_) => Err(packet),
        }
    }

    /// A message of ours is answered.
    pub fn answered(&mut self, now_ns: u64, id: SendId) {
        if let Channel::Datagrams(layer) = self {
            layer.answered(now_ns, id);
        }
    }

    /// Nobody waits for the answers to messages of ours any more.
    pub fn cancel(&mut self, now_ns: u64, ids: &BTreeSet<SendId>) {
        if let Channel::Datagrams(layer) = self {
            layer.cancel(now_ns, ids);
        }
    }

    /// See [`MessageLayer::send_waiting`]: to follow what is [received](Self::receive), and [time-outs](Self::handle_timeout).
    pub fn send_waiting(&mut self, now_ns: u64) {
        if let Channel::Datagrams(layer) = self {
            layer.send_waiting(now_ns);
        }
    }

    /// See [`MessageLayer::acknowledge`].
    pub fn acknowledge(&mut self, receipt: Receipt) {
        if let Channel::Datagrams(layer) = self {
            layer.acknowledge(receipt);
        }
    }

    /// See [`MessageLayer::reject`]; over a stream such a message is ignored (RFC 8323, section 3.4).
    pub fn reject(&mut self, receipt: Receipt) {
        if let Channel::Datagrams(layer) = self {
            layer.reject(receipt);
        }
    }

    /// Sends a response: on the acknowledgement of the request if that is still to be sent, else as a message that is confirmable if the request
    /// was (section 5.2). `again` as in [`MessageLayer::piggyback`].
    pub fn respond(&mut self, now_ns: u64, receipt: Receipt, acknowledged: bool, packet: Packet, again: bool) {
        match self {
            Channel::Datagrams(layer) if receipt.confirmable && !acknowledged => {
                layer.piggyback(receipt, packet, again)
            }
            channel => drop(channel.send(now_ns, packet, receipt.confirmable)),
        }
    }

    /// The longest body that goes in one message; `None` while the peer has not said. Blocks of `szx` carry what is longer.
    pub fn whole_body_bytes(&self, szx: u8) -> Option<usize> {
        match self {
            Channel::Datagrams(_) => Some(super::block::size(szx)),
            Channel::Stream(framing) => framing.whole_body_bytes(),
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if let Channel::Datagrams(layer) = self {
            layer.handle_timeout(now_ns);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn poll_timeout(&self) -> Option<u64> {
        match self {
            Channel::Datagrams(layer) => layer.poll_timeout(),
            Channel::Stream(_) => None,
        }
    }

    /// The next bytes to send: one datagram, or the next part of a stream.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        match self {
            Channel::Datagrams(layer) => layer.poll_transmit(),
            Channel::Stream(framing) => framing.poll_transmit(),
        }
    }

    /// What happened to messages of ours.
    pub fn poll_event(&mut self) -> Option<SendEvent> {
        match self {
            Channel::Datagrams(layer) => layer.poll_event(),
            Channel::Stream(framing) => framing.poll_event(),
        }
    }

    /// Nothing is under way or remembered.
    pub fn is_idle(&mut self, now_ns: u64) -> bool {
        match self {
            Channel::Datagrams(layer) => layer.is_idle(now_ns),
            Channel::Stream(_) => false,
        }
    }

    /// A random number of the association's own generator.
    pub fn draw(&mut self) -> u64 {
        match self {
            Channel::Datagrams(layer) => layer.draw(),
            Channel::Stream(framing) => framing.draw(),
        }
    }
}
