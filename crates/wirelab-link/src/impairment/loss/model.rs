//! Loss by a model: the stage that drops, and the trait of a model. Each model has its own file.

use crate::impairment::settled::{Effect, Settled};
use crate::impairment::stage_exit::StageExit;
use crate::spec::words;
use crate::{DropCause, Impairment, Instant, Packet};

/// Decides which packets are lost.
pub trait LossModel: Send {
    /// See [`Impairment::start`](crate::Impairment::start).
    fn start(&mut self, _origin: Instant) {}

    /// True if the next packet, at `now`, is lost. Takes the same number of draws from the packets' generator for every packet.
    fn loses(&mut self, now: Instant) -> bool;
}

/// A stage that drops what its model says, and takes no time.
///
/// Where it stands matters: behind a rate, lost packets have used their airtime, as on a radio; before it, they never load the rate.
#[derive(Debug)]
pub(crate) struct Lossy<M> {
    model: M,
}

impl<M: LossModel> Lossy<M> {
    /// A stage that drops by `model`.
    pub(crate) fn new(model: M) -> Settled<Self> {
        Settled::new(Self { model })
    }
}

impl<M: LossModel> Effect for Lossy<M> {
    fn start(&mut self, origin: Instant) {
        self.model.start(origin);
    }

    fn apply(&mut self, packet: Packet, now: Instant, out: &mut StageExit) {
        if self.model.loses(now) {
            out.drop(packet, now, DropCause::Loss);
        } else {
            out.depart(packet, now);
        }
    }
}

/// The stage that drops by `model`.
pub(crate) fn lossy(model: impl LossModel + 'static) -> Box<dyn Impairment> {
    Box::new(Lossy::new(model))
}

/// The share lost in the long run in people's words, of two states that take their parts of the whole: each its part and its loss.
pub(crate) fn average_words([bad, bad_loss]: [f64; 2], [good, good_loss]: [f64; 2]) -> String {
    if bad + good == 0.0 {
        return "some".to_owned();
    }
    let share = (bad * bad_loss + good * good_loss) / (bad + good);
    format!("{} %", words::significant(100.0 * share, 3))
}
