//! The subscriber of `pubsub` over AMQP.

use bytes::Bytes;
use fe2o3_amqp::Receiver;
use fe2o3_amqp::link::delivery::DeliveryInfo;
use fe2o3_amqp::link::receiver::CreditMode;

use super::connection::{Opened, Opener};
use super::message::{AnyBody, into_bytes};
use super::options::Delivery;
use super::stamps::AmqpStamps;
use super::{LINK_NAME, NOTIFY_ADDRESS};
use crate::attempt::{Attempt, ExchangeError};
use crate::workload::Subscriber;

/// Waits for the messages of `notify` with a receiver.
pub struct AmqpSubscriber {
    pub opener: Opener,
    /// Which of the subscribers.
    pub number: u32,
}

/// A receiver that both ends have attached.
pub struct Subscription {
    opened: Opened,
    receiver: Receiver,
    /// Received, but not yet accepted.
    pending: Option<(DeliveryInfo, Option<Bytes>)>,
}

impl Subscriber for AmqpSubscriber {
    type Subscription = Subscription;

    async fn subscribe(&self, attempt: &mut Attempt) -> Result<Subscription, ExchangeError> {
        let options = &self.opener.options;
        let mut opened = self.opener.open(AmqpStamps::new(0, 0), attempt).await?;
        let link = Receiver::builder()
            .name(format!("{LINK_NAME}-{NOTIFY_ADDRESS}-{}", self.number))
            .source(options.address(NOTIFY_ADDRESS))
            .credit_mode(CreditMode::Auto(options.link_credit));
        let receiver = options.settling(link).attach(&mut opened.session).await?;
        Ok(Subscription { opened, receiver, pending: None })
    }

    async fn next(&self, subscription: &mut Subscription) -> Result<Bytes, ExchangeError> {
        let Subscription { opened, receiver, pending } = subscription;
        if pending.is_none() {
            let (info, message) = receiver.recv::<AnyBody>().await?.into_parts();
            *pending = Some((info, into_bytes(message.body)));
        }
        let (info, body) = pending.as_ref().expect("just received");
        // Says nothing of what came settled.
        receiver.accept(info.clone()).await?;
        if self.opener.options.delivery != Delivery::AtMostOnce {
            opened.stamps.lock().expect("no holder panics").owe();
        }
        let body = body.clone();
        *pending = None;
        body.ok_or_else(|| ExchangeError::new("message without bytes"))
    }

    async fn close(&self, subscription: Subscription) {
        let Subscription { opened, receiver, .. } = subscription;
        opened.close(receiver).await;
    }
}
