//! Publisher and subscriber of `pubsub` and `stream` over AMQP. The queue between them is the server's.

use bytes::Bytes;
use fe2o3_amqp::link::delivery::DeliveryInfo;
use fe2o3_amqp::link::receiver::CreditMode;
use fe2o3_amqp::{Receiver, Sender};
use tokio::task::JoinSet;
use tokio::time::{Duration, timeout};
use wirelab_schema::Exchange;

use super::client::{attach_sender, judge};
use super::connection::{Opened, Opener};
use super::message::{AnyBody, bytes_before, into_bytes, of_bytes};
use super::options::Delivery;
use super::stamps::AmqpStamps;
use super::{LINK_NAME, NOTIFY_ADDRESS};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::workload::{Changes, Messages, Subscriber, Work};
use crate::{Context, StackError};

/// Publishes the changes to `notify`, each at its instant, whether or not those before have been accepted; returns when all have, or when stopped.
pub async fn publish(context: Context, opener: Opener) -> Result<(), StackError> {
    let Context { parameters, clock, mut stop, .. } = context;
    let failed = |error| StackError::failed("publishing", error);
    let mut attempt = Attempt::start(clock.clone(), 0, None);
    let length = Messages::new(&parameters).length();
    let stamps = AmqpStamps::new(bytes_before(length), length);
    let time_out = Duration::from_nanos(Work::changes(&parameters.workload).timeout_ns);
    let attaching = async {
        let mut opened = opener.open(stamps, &mut attempt).await?;
        let sender = attach_sender(&mut opened, &opener.options, NOTIFY_ADDRESS).await?;
        Ok((opened, sender))
    };
    let (opened, mut sender) = tokio::select! {
        attached = timeout(time_out, attaching) => attached.unwrap_or(Err(ExchangeError::TimedOut)).map_err(failed)?,
        () = stop.stopped() => return Ok(()),
    };
    let changes = Changes::new(&parameters, clock);
    let published = tokio::select! {
        published = send_all(&opened, &mut sender, opener.options.delivery, changes, time_out) => published,
        () = stop.stopped() => Ok(()),
    };
    opened.close(sender).await;
    published.map_err(failed)
}

async fn send_all(
    opened: &Opened,
    sender: &mut Sender,
    delivery: Delivery,
    mut changes: Changes,
    time_out: Duration,
) -> Result<(), ExchangeError> {
    let mut outcomes = JoinSet::new();
    while let Some(message) = changes.next().await {
        if delivery == Delivery::AtMostOnce {
            let ticket = opened.stamps.lock().expect("no holder panics").promise();
            opened.send_settled(sender, &of_bytes(&message), ticket).await?;
            opened.stamps.lock().expect("no holder panics").take(ticket, &mut Exchange::default());
            continue;
        }
        outcomes.spawn(sender.send_batchable(of_bytes(&message)).await?);
        while let Some(outcome) = outcomes.try_join_next() {
            judge(outcome.expect("no panic")?)?;
        }
    }
    let rest = async {
        while let Some(outcome) = outcomes.join_next().await {
            judge(outcome.expect("no panic")?)?;
        }
        Ok(())
    };
    timeout(time_out, rest).await.unwrap_or(Err(ExchangeError::TimedOut))
}

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
