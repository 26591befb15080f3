//! A client that keeps what it could not send: one message at a time, in order, again after each back-off.

use std::iter::from_fn;

use wirelab_schema::{Extension, Outcome, Retry};

use super::super::backlog::{Backlog, Message};
use super::{Client, Driver};
use crate::StackError;
use crate::base::attempt::Attempt;

impl<C: Client> Driver<'_, C> {
    /// Sends all messages, or gives them up. Once they have all been produced and the last one's time-out is over, nothing that failed is tried again.
    pub(super) async fn send_in_order(&self, retry: &Retry) -> Result<(), StackError> {
        let mut backlog = Backlog::new(*retry, self.seed, self.number);
        let mut next = self.next_message().await;
        let mut last_ns = 0;
        let mut free_ns = self.clock.now_ns();
        loop {
            let now_ns = self.clock.now_ns();
            let mut gone = Vec::new();
            // The client may have been busy with one message when others were due.
            while let Some((index, due_ns)) = next.filter(|(_, due_ns)| *due_ns <= now_ns) {
                gone.extend(from_fn(|| backlog.too_old(due_ns)));
                gone.extend(backlog.push(index, due_ns));
                last_ns = due_ns;
                next = self.next_message().await;
            }
            gone.extend(from_fn(|| backlog.too_old(now_ns)));
            for row in gone {
                free_ns = free_ns.max(row.end_ns);
                self.recorder.lock().await.record(row)?;
            }
            if let Some(message) = backlog.take(now_ns) {
                self.try_once(&mut backlog, message, free_ns).await?;
                free_ns = self.clock.now_ns();
                continue;
            }
            let until_ns = match next {
                Some((_, due_ns)) => due_ns,
                None if backlog.is_empty() => return Ok(()),
                None => self.end_ns().await.max(last_ns.saturating_add(self.workload.timeout_ns)),
            };
            if now_ns >= until_ns {
                break;
            }
            self.clock.sleep_until(backlog.next_ns().map_or(until_ns, |wake_ns| wake_ns.min(until_ns))).await;
        }
        let now_ns = self.clock.now_ns();
        while let Some(row) = backlog.left_over(now_ns) {
            self.recorder.lock().await.record(row)?;
        }
        Ok(())
    }

    /// One attempt. Whatever is not completed is kept, but for what the endpoint never does.
    async fn try_once(&self, backlog: &mut Backlog, mut message: Message, free_ns: u64) -> Result<(), StackError> {
        let place_ns = *message.place_ns.get_or_insert(free_ns);
        let mut attempt = Attempt::start(self.clock.clone(), message.index, Some(message.produced_ns));
        attempt.exchange.client = self.number;
        let (mut exchange, to_close) = self.carry_out(attempt).await;
        if let Extension::Request(columns) = &mut exchange.extension {
            (columns.place_ns, columns.attempts) = (Some(place_ns), Some(message.attempts));
        }
        let ended = match exchange.outcome {
            Outcome::Completed | Outcome::Unsupported => {
                backlog.ended();
                Some(self.judged(exchange))
            }
            _ => {
                self.drop_unusable().await;
                message.last = Some(exchange);
                backlog.failed(message, self.clock.now_ns())
            }
        };
        if let Some(row) = ended {
            self.recorder.lock().await.record(row)?;
        }
        if let Some(connection) = to_close {
            self.client.close(connection).await;
        }
        Ok(())
    }

    async fn next_message(&self) -> Option<(u32, u64)> {
        self.schedule.lock().await.as_mut().and_then(|schedule| schedule.next_instant())
    }

    /// When the gap after the last message is over, once all have been drawn.
    async fn end_ns(&self) -> u64 {
        self.schedule.lock().await.as_ref().and_then(|schedule| schedule.end_ns()).unwrap_or(0)
    }

    /// Drops the connections on which an attempt failed, so that the next one opens another.
    async fn drop_unusable(&self) {
        for slot in &self.slots {
            let mut place = slot.kept.lock().await;
            *place = place.take().filter(|kept| self.is_usable(kept));
        }
    }
}
