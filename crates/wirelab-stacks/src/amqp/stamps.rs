//! When deliveries were sent and settled, read from the wire. It changes nothing that passes.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Notify;
use wirelab_schema::Exchange;

use super::frames::{Fields, Frames, Part, code};
use crate::wire::tap::Observer;

/// What the wire shows of the deliveries that one connection's only outgoing link carries, all of one size: when each was sent and when its
/// disposition came.
pub struct AmqpStamps {
    sent: Frames,
    received: Frames,
    body_bytes: u64,
    /// Bytes of a message before its body.
    before_body: u64,
    promised: u32,
    begun: u32,
    deliveries: BTreeMap<u32, Delivery>,
    tickets: BTreeMap<u32, u32>,
    /// Dispositions that this end has to send, and those that it has sent.
    owed: u32,
    paid: u32,
    closed: bool,
    written: Arc<Notify>,
}

#[derive(Default)]
struct Delivery {
    request_start_ns: u64,
    first_body_sent_ns: Option<u64>,
    payload_bytes: u64,
    disposition_ns: Option<u64>,
}

impl AmqpStamps {
    /// Of deliveries whose messages have `before_body` bytes and then `body_bytes`.
    pub fn new(before_body: usize, body_bytes: usize) -> Self {
        AmqpStamps {
            sent: Frames::default(),
            received: Frames::default(),
            body_bytes: body_bytes as u64,
            before_body: before_body as u64,
            promised: 0,
            begun: 0,
            deliveries: BTreeMap::new(),
            tickets: BTreeMap::new(),
            owed: 0,
            paid: 0,
            closed: false,
            written: Arc::default(),
        }
    }

    /// Ticket of the delivery that is sent next. Every ticket must be followed by its delivery before the next is drawn; without any, none is
    /// watched.
    pub fn promise(&mut self) -> u32 {
        self.promised += 1;
        self.promised - 1
    }

    /// Notified whenever something whole has been written.
    pub fn progress(&self) -> Arc<Notify> {
        self.written.clone()
    }

    /// True once the last byte of the delivery was handed to the layer below.
    pub fn is_written(&self, ticket: u32) -> bool {
        let whole = self.before_body + self.body_bytes;
        self.deliveries.get(&ticket).is_some_and(|delivery| delivery.payload_bytes >= whole)
    }

    /// One more delivery has been accepted, and its disposition is on its way to the wire.
    pub fn owe(&mut self) {
        self.owed += 1;
    }

    /// True once every disposition that is owed has been handed to the layer below.
    pub fn is_even(&self) -> bool {
        self.paid >= self.owed
    }

    /// True once the connection's close was handed to the layer below.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Copies what is known of a delivery into its exchange, and forgets it.
    pub fn take(&mut self, ticket: u32, exchange: &mut Exchange) {
        let Some(delivery) = self.deliveries.remove(&ticket) else { return };
        self.tickets.retain(|_, of| *of != ticket);
        exchange.request_start_ns = Some(delivery.request_start_ns);
        exchange.first_body_sent_ns = delivery.first_body_sent_ns;
        exchange.first_response_byte_ns = delivery.disposition_ns;
        exchange.first_final_byte_ns = delivery.disposition_ns;
        exchange.body_sent_bytes = delivery.payload_bytes.saturating_sub(self.before_body).min(self.body_bytes);
    }

    /// A transfer with a delivery-id begins a delivery; those that continue it have none (part 2, section 2.7.5).
    fn transfer(&mut self, fields: &Fields, now_ns: u64) {
        if let Some(delivery_id) = fields.uint(1)
            && self.begun < self.promised
        {
            self.deliveries.insert(self.begun, Delivery { request_start_ns: now_ns, ..Delivery::default() });
            self.tickets.insert(delivery_id, self.begun);
            self.begun += 1;
        }
    }

    fn payload(&mut self, bytes: usize, now_ns: u64) {
        let Some(delivery) = self.begun.checked_sub(1).and_then(|last| self.deliveries.get_mut(&last)) else { return };
        delivery.payload_bytes += bytes as u64;
        if delivery.payload_bytes > self.before_body {
            delivery.first_body_sent_ns.get_or_insert(now_ns);
        }
    }

    /// Of the receiver.
    fn disposition(&mut self, fields: &Fields, now_ns: u64) {
        let (Some(true), Some((first, last))) = (fields.boolean(0), range(fields)) else { return };
        for ticket in self.tickets.range(first..=last).map(|(_, ticket)| ticket) {
            if let Some(delivery) = self.deliveries.get_mut(ticket) {
                delivery.disposition_ns.get_or_insert(now_ns);
            }
        }
    }
}

/// The deliveries that a disposition is of.
fn range(fields: &Fields) -> Option<(u32, u32)> {
    let first = fields.uint(1)?;
    let last = fields.uint(2).unwrap_or(first);
    (first <= last).then_some((first, last))
}

impl Observer for AmqpStamps {
    fn written(&mut self, bytes: &[u8], now_ns: u64) {
        let mut frames = std::mem::take(&mut self.sent);
        frames.take(bytes, |found| match found {
            Part::Performative { code: code::TRANSFER, fields, .. } => self.transfer(&fields, now_ns),
            Part::Performative { code: code::DISPOSITION, fields, .. } => {
                let disposed = range(&fields).map_or(0, |(first, last)| (last - first).saturating_add(1));
                self.paid = self.paid.saturating_add(disposed);
            }
            Part::Performative { code: code::CLOSE, .. } => self.closed = true,
            Part::Payload(bytes) => self.payload(bytes, now_ns),
            Part::Performative { .. } | Part::Header => {}
        });
        self.sent = frames;
        self.written.notify_waiters();
    }

    fn read(&mut self, bytes: &[u8], now_ns: u64) {
        let mut frames = std::mem::take(&mut self.received);
        frames.take(bytes, |found| {
            if let Part::Performative { code: code::DISPOSITION, fields, .. } = found {
                self.disposition(&fields, now_ns);
            }
        });
        self.received = frames;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of a performative with these fields.
    fn frame(code: u8, fields: &[u8], payload: &[u8]) -> Vec<u8> {
        let size = 8 + 3 + 3 + fields.len() + payload.len();
        let head = [0, 0, 0, size as u8, 2, 0, 0, 0, 0x00, 0x53, code, 0xc0, fields.len() as u8 + 1, 9];
        [&head[..], fields, payload].concat()
    }

    fn transfer(delivery_id: u8, payload: &[u8]) -> Vec<u8> {
        frame(code::TRANSFER, &[0x43, 0x52, delivery_id], payload)
    }

    fn row(stamps: &mut AmqpStamps, ticket: u32) -> Exchange {
        let mut exchange = Exchange::default();
        stamps.take(ticket, &mut exchange);
        exchange
    }

    #[test]
    fn a_delivery_over_several_frames_is_one() {
        let mut stamps = AmqpStamps::new(5, 10);
        let ticket = stamps.promise();
        stamps.written(&transfer(0, &[0; 8]), 10);
        assert!(!stamps.is_written(ticket));
        stamps.written(&frame(code::TRANSFER, &[0x43, 0x40], &[0; 7]), 20);
        assert!(stamps.is_written(ticket));
        stamps.read(&frame(code::DISPOSITION, &[0x41, 0x43, 0x40, 0x41], &[]), 30);
        let row = row(&mut stamps, ticket);
        assert_eq!((row.request_start_ns, row.first_body_sent_ns, row.body_sent_bytes), (Some(10), Some(10), 10));
        assert_eq!((row.first_response_byte_ns, row.first_final_byte_ns), (Some(30), Some(30)));
    }

    #[test]
    fn a_disposition_of_a_range_is_of_every_delivery_in_it_and_of_no_other() {
        let mut stamps = AmqpStamps::new(0, 1);
        for delivery in 0..4 {
            stamps.promise();
            stamps.written(&transfer(delivery, &[1]), u64::from(delivery));
        }
        stamps.read(&frame(code::DISPOSITION, &[0x41, 0x52, 1, 0x52, 2, 0x41], &[]), 9);
        let seen: Vec<_> = (0..4).map(|ticket| row(&mut stamps, ticket).first_final_byte_ns).collect();
        assert_eq!(seen, [None, Some(9), Some(9), None]);
    }

    #[test]
    fn a_disposition_of_the_sender_or_of_an_absurd_range_answers_nothing() {
        let mut stamps = AmqpStamps::new(0, 1);
        let ticket = stamps.promise();
        stamps.written(&transfer(0, &[1]), 1);
        stamps.read(&frame(code::DISPOSITION, &[0x42, 0x43, 0x40, 0x41], &[]), 2);
        stamps.read(&frame(code::DISPOSITION, &[0x41, 0x52, 9, 0x43, 0x41], &[]), 3);
        assert_eq!(row(&mut stamps, ticket).first_final_byte_ns, None);
    }

    #[test]
    fn the_sent_bytes_of_a_cancelled_delivery_are_recorded() {
        let mut stamps = AmqpStamps::new(5, 10);
        let ticket = stamps.promise();
        stamps.written(&transfer(0, &[0; 15])[..17 + 9], 10);
        let row = row(&mut stamps, ticket);
        assert_eq!((row.first_body_sent_ns, row.body_sent_bytes), (Some(10), 4));
    }

    #[test]
    fn pending_dispositions_end_once_they_are_written() {
        let mut stamps = AmqpStamps::new(0, 0);
        for _ in 0..3 {
            stamps.owe();
        }
        stamps.written(&frame(code::DISPOSITION, &[0x41, 0x43, 0x52, 1, 0x41], &[]), 1);
        assert!(!stamps.is_even());
        stamps.written(&frame(code::DISPOSITION, &[0x41, 0x52, 2, 0x40, 0x41], &[]), 2);
        assert!(stamps.is_even() && !stamps.is_closed());
        stamps.written(&frame(code::CLOSE, &[], &[]), 3);
        assert!(stamps.is_closed());
    }
}
