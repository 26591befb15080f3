//! Subscriber and publisher of `pubsub` over MQTT. Messages are routed by the broker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::link::Link;
use super::sessions::Sessions;
use super::transport::{Connector, Over};
use super::{NOTIFY_TOPIC, qos};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings::Settings;
use crate::codec::mqtt::{Message, Qos};
use crate::workload::{Changes, Subscriber, Work};
use crate::{Clock, Context, StackError};

/// Waits for changes.
pub struct PubSubSubscriber {
    connector: Connector,
    sessions: Arc<Sessions>,
    qos: Qos,
    clock: Arc<dyn Clock>,
    /// The broker has confirmed a subscription, and keeps it with the session.
    subscribed: AtomicBool,
}

/// A confirmed subscription.
pub struct Subscription {
    link: Link,
    messages: mpsc::UnboundedReceiver<Bytes>,
}

impl PubSubSubscriber {
    /// The subscriber of the workload with this number.
    pub fn new(over: Over, context: &Context, number: u32, settings: &Arc<Settings>) -> Result<Self, StackError> {
        Ok(PubSubSubscriber {
            connector: Connector::new(over, &context.parameters, settings)?,
            sessions: Sessions::new('s', number, settings),
            qos: qos(settings),
            clock: context.clock.clone(),
            subscribed: AtomicBool::new(false),
        })
    }
}

impl Subscriber for PubSubSubscriber {
    type Subscription = Subscription;

    async fn subscribe(&self, attempt: &mut Attempt) -> Result<Subscription, ExchangeError> {
        let (link, messages) = Link::connect(&self.connector, &self.sessions, &self.clock, attempt).await?;
        if !link.is_resumed() || !self.subscribed.load(Ordering::Relaxed) {
            link.subscribe(NOTIFY_TOPIC, self.qos).await?;
            self.subscribed.store(true, Ordering::Relaxed);
        }
        Ok(Subscription { link, messages })
    }

    async fn next(&self, subscription: &mut Subscription) -> Result<Bytes, ExchangeError> {
        subscription.messages.recv().await.ok_or_else(|| subscription.link.why())
    }

    async fn close(&self, subscription: Subscription) {
        subscription.link.close().await;
    }
}

/// The role of the publisher: publishes each change at its instant, whether or not those before it are acknowledged, and ends when all are.
pub async fn publish(over: Over, context: Context, settings: &Arc<Settings>) -> Result<(), StackError> {
    let Context { parameters, clock, mut stop, .. } = context;
    let connector = Connector::new(over, &parameters, settings)?;
    let sessions = Sessions::new('p', 0, settings);
    let timeout = Duration::from_nanos(Work::changes(&parameters.workload).timeout_ns);
    let failed = |error: ExchangeError| StackError::failed("publishing", error);
    let mut attempt = Attempt::start(clock.clone(), 0, None);
    let connected = tokio::time::timeout(timeout, Link::connect(&connector, &sessions, &clock, &mut attempt));
    let (link, _) = tokio::select! {
        connected = connected => connected.unwrap_or(Err(ExchangeError::TimedOut)).map_err(failed)?,
        () = stop.stopped() => return Ok(()),
    };
    let qos = qos(settings);
    let mut changes = Changes::new(&parameters, clock);
    let mut unacknowledged = FuturesUnordered::new();
    let work = async {
        loop {
            tokio::select! {
                change = changes.next() => {
                    let Some(change) = change else { break };
                    unacknowledged.push(link.publish(Message::new(NOTIFY_TOPIC, change), qos, None));
                }
                Some(ended) = unacknowledged.next() => check(ended)?,
            }
        }
        let rest = async {
            while let Some(ended) = unacknowledged.next().await {
                check(ended)?;
            }
            Ok(())
        };
        tokio::time::timeout(timeout, rest).await.unwrap_or(Err(ExchangeError::TimedOut))
    };
    let ended = tokio::select! {
        ended = work => ended.map_err(failed),
        () = stop.stopped() => Ok(()),
    };
    drop(unacknowledged);
    link.close().await;
    ended
}

fn check(ended: Result<crate::codec::mqtt::Reason, ExchangeError>) -> Result<(), ExchangeError> {
    let reason = ended?;
    if reason.is_failure() {
        return Err(ExchangeError::new(format!("the broker refused the message: {reason}")));
    }
    Ok(())
}
