//! SASL mechanisms of the built-in queue.

use fe2o3_amqp::acceptor::sasl_acceptor::SaslServerFrame;
use fe2o3_amqp::acceptor::{SaslAcceptor, SaslAnonymousMechanism, SaslPlainMechanism};
use fe2o3_amqp::types::primitives::{Array, Symbol};
use fe2o3_amqp::types::sasl::{SaslCode, SaslInit, SaslOutcome, SaslResponse};

use super::options::{PASSWORD, USER};

/// The mechanisms of the built-in queue: PLAIN for its one user, and ANONYMOUS unless that is too little.
#[derive(Clone, Debug)]
pub struct Mechanisms {
    plain: SaslPlainMechanism,
    anonymous: Option<SaslAnonymousMechanism>,
}

impl Mechanisms {
    /// With or without ANONYMOUS.
    pub fn new(anonymous: bool) -> Self {
        Mechanisms {
            plain: SaslPlainMechanism::new(USER, PASSWORD),
            anonymous: anonymous.then(SaslAnonymousMechanism::new),
        }
    }
}

impl SaslAcceptor for Mechanisms {
    fn mechanisms(&self) -> Array<Symbol> {
        let anonymous = self.anonymous.iter().flat_map(|mechanism| mechanism.mechanisms().0);
        self.plain.mechanisms().0.into_iter().chain(anonymous).collect::<Vec<_>>().into()
    }

    fn on_init(&mut self, init: SaslInit) -> SaslServerFrame {
        match (init.mechanism.as_str(), &mut self.anonymous) {
            ("PLAIN", _) => self.plain.on_init(init),
            ("ANONYMOUS", Some(anonymous)) => anonymous.on_init(init),
            _ => refused(),
        }
    }

    fn on_response(&mut self, _response: SaslResponse) -> SaslServerFrame {
        refused()
    }
}

fn refused() -> SaslServerFrame {
    SaslServerFrame::Outcome(SaslOutcome { code: SaslCode::Auth, additional_data: None })
}
