//! Telling clients of changes (RFC 7641). When something changes is the application's.

use std::collections::{BTreeSet, VecDeque};

use coap_lite::CoapOption;

use super::super::block::Block;
use super::super::channel::{Channel, SendId};
use super::super::message::{Method, Response};
use super::super::observe::SEQUENCE_MASK;
use super::{Observation, ObservationId, RequestId, Server, ServerEvent};

/// Notifications of an observation, not confirmable, that a Reset may still be of.
const REMEMBERED: usize = 64;

impl Server {
    /// Answers a request that asks to be told of changes with the state as it is, and will tell the client of others.
    pub fn observe(&mut self, now_ns: u64, id: RequestId, response: Response) -> Option<ObservationId> {
        let pending = self.pending.get(&id)?;
        let (token, target) = (pending.token.clone(), pending.target.clone());
        let szx = pending.wanted.map_or(self.options.szx, |block| block.szx.min(self.options.szx));
        self.unobserve(now_ns, &token);
        let observation = ObservationId(self.draw_id());
        let begun = Observation {
            token,
            target,
            szx,
            sequence: 0,
            unacknowledged: BTreeSet::new(),
            resettable: VecDeque::new(),
            queue: VecDeque::new(),
            fetching: None,
        };
        self.observations.insert(observation, begun);
        self.answer(now_ns, id, response, Some(0));
        Some(observation)
    }

    /// Tells an observer of a newer state. A state that is fetched in blocks delays the next until it has been fetched; a server that skips
    /// instead lets a confirmable notification take the place of one that still awaits its acknowledgement (RFC 7641, sections 4.5.1 and 4.5.2).
    pub fn notify(&mut self, now_ns: u64, id: ObservationId, response: Response, confirmable: bool) {
        let skips = self.options.skips;
        let Some(observation) = self.observations.get_mut(&id) else { return };
        if skips {
            observation.fetching = None;
        }
        observation.queue.push_back((response, confirmable));
        self.send_notification(now_ns, id);
    }

    /// Sends the notifications that need not wait.
    pub(super) fn send_notification(&mut self, now_ns: u64, id: ObservationId) {
        while let Some(observation) =
            self.observations.get_mut(&id).filter(|observation| observation.fetching.is_none())
            && let Some((response, confirmable)) = observation.queue.pop_front()
        {
            observation.sequence = (observation.sequence + 1) & SEQUENCE_MASK;
            let (token, target, sequence) =
                (observation.token.clone(), observation.target.clone(), observation.sequence);
            let wanted = Some(Block { number: 0, more: false, szx: observation.szx });
            let packet = self.response_packet(now_ns, token, (Method::Get, target), response, wanted, Some(sequence));
            let in_blocks = packet.get_first_option(CoapOption::Block2).is_some();
            let observation = self.observations.get_mut(&id).expect("it was there");
            if in_blocks {
                let limit_ns = self.options.fetch_ns[usize::from(!confirmable)];
                observation.fetching = Some((now_ns.saturating_add(limit_ns), limit_ns));
            }
            let packet = match observation.unacknowledged.last().filter(|_| self.options.skips && confirmable) {
                Some(last) => match self.channel.supersede(*last, packet) {
                    Ok(()) => continue,
                    Err(packet) => packet,
                },
                None => packet,
            };
            let send = self.channel.send(now_ns, packet, confirmable);
            match &self.channel {
                // Whether its peer takes it, a stream tells by its end.
                Channel::Stream(_) => {}
                Channel::Datagrams(_) if confirmable => drop(observation.unacknowledged.insert(send)),
                Channel::Datagrams(_) => {
                    observation.resettable.push_back(send);
                    if observation.resettable.len() > REMEMBERED {
                        observation.resettable.pop_front();
                    }
                }
            }
        }
    }

    /// A block of what is kept of `target` was served, the last one or another.
    pub(super) fn fetched(&mut self, now_ns: u64, target: &str, last: bool) {
        let ids: Vec<ObservationId> = self.observations.keys().copied().collect();
        for id in ids {
            let observation = self.observations.get_mut(&id).expect("it is there");
            if let Some((until_ns, limit_ns)) = observation.fetching.as_mut().filter(|_| observation.target == target) {
                *until_ns = now_ns.saturating_add(*limit_ns);
                if last {
                    observation.fetching = None;
                    self.send_notification(now_ns, id);
                }
            }
        }
    }

    /// Who has asked for no block for long fetches no more.
    pub(super) fn stop_fetching(&mut self, now_ns: u64) {
        let fetching = |observation: &Observation| observation.fetching.is_some_and(|(until_ns, _)| until_ns <= now_ns);
        let late: Vec<ObservationId> =
            self.observations.iter().filter(|(_, observation)| fetching(observation)).map(|(id, _)| *id).collect();
        for id in late {
            self.observations.get_mut(&id).expect("it is there").fetching = None;
            self.send_notification(now_ns, id);
        }
    }

    pub(super) fn acknowledged(&mut self, send: SendId) {
        for observation in self.observations.values_mut() {
            observation.unacknowledged.remove(&send);
        }
    }

    pub(super) fn unobserve(&mut self, now_ns: u64, token: &[u8]) {
        let id = self.observations.iter().find(|(_, observation)| observation.token == token).map(|(id, _)| *id);
        self.end_observation(now_ns, id);
    }

    pub(super) fn unobserve_sent(&mut self, now_ns: u64, send: SendId) {
        let of_it = |observation: &Observation| {
            observation.unacknowledged.contains(&send) || observation.resettable.contains(&send)
        };
        let id = self.observations.iter().find(|(_, observation)| of_it(observation)).map(|(id, _)| *id);
        self.end_observation(now_ns, id);
    }

    /// What is under way to the client is not sent any more, either (RFC 7641, section 4.5).
    fn end_observation(&mut self, now_ns: u64, id: Option<ObservationId>) {
        if let Some(id) = id
            && let Some(observation) = self.observations.remove(&id)
        {
            self.channel.cancel(now_ns, &observation.unacknowledged);
            self.events.push_back(ServerEvent::Unobserved(id));
        }
    }
}
