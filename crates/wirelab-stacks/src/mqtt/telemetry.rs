//! The client of `telemetry` over MQTT. The arrival process is the driver's.

use std::sync::Arc;

use super::link::Link;
use super::sessions::Sessions;
use super::transport::{Connector, Over};
use super::{DELIVER_TOPIC, qos, version};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings::Settings;
use crate::codec::mqtt::topics;
use crate::codec::mqtt::{Message, Qos, Version};
use crate::workload::{Client, Reading};
use crate::{Clock, Context, StackError};

/// Publishes readings.
pub struct TelemetryClient {
    connector: Connector,
    sessions: Arc<Sessions>,
    message: Arc<Message>,
    qos: Qos,
    version: Version,
    clock: Arc<dyn Clock>,
}

impl TelemetryClient {
    /// The client of the workload with this number.
    pub fn new(over: Over, context: &Context, number: u32, settings: &Arc<Settings>) -> Result<Self, StackError> {
        let parameters = &context.parameters;
        let reading = Reading::of(parameters);
        let topic = reading.topic.as_deref().unwrap_or(DELIVER_TOPIC);
        if topics::check_name(topic).is_err() {
            return Err(StackError::Usage(format!(
                "`publish`: {topic:?} is no topic of MQTT: it has a wildcard, or is too long"
            )));
        }
        Ok(TelemetryClient {
            connector: Connector::new(over, parameters, settings)?,
            sessions: Sessions::new('c', number, settings),
            message: Message::new(topic, reading.body),
            qos: qos(settings),
            version: version(settings),
            clock: context.clock.clone(),
        })
    }
}

impl Client for TelemetryClient {
    type Connection = Arc<Link>;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Arc<Link>, ExchangeError> {
        let (link, _) = Link::connect(&self.connector, &self.sessions, &self.clock, attempt).await?;
        Ok(Arc::new(link))
    }

    async fn exchange(&self, link: &mut Arc<Link>, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        if attempt.exchange.connection_reused {
            link.carrier().observe(attempt);
        }
        let reason = link.publish(self.message.clone(), self.qos, Some(attempt)).await?;
        if self.version == Version::V5 && self.qos != Qos::AtMostOnce {
            attempt.exchange.status = Some(reason.0.into());
        }
        match reason.is_failure() {
            true => Err(ExchangeError::new(format!("the broker refused the message: {reason}"))),
            false => Ok(()),
        }
    }

    fn share(&self, link: &Arc<Link>) -> Option<Arc<Link>> {
        Some(link.clone())
    }

    fn is_usable(&self, link: &Arc<Link>) -> bool {
        link.is_usable()
    }

    async fn close(&self, link: Arc<Link>) {
        if let Some(link) = Arc::into_inner(link) {
            link.close().await;
        }
    }
}
