use fe2o3_amqp::Sender;
use tokio::task::JoinSet;
use wirelab_schema::Exchange;

use super::NOTIFY_ADDRESS;
use super::client::{attach_sender, judge};
use super::connection::{Opened, Opener};
use super::message::{bytes_before, of_bytes};
use super::options::Delivery;
use super::stamps::AmqpStamps;
use crate::attempt::{Attempt, ExchangeError};
use crate::workload::{Changes, Messages};
use crate::{Context, StackError};

/// Publishes the changes to `notify`, each at its instant, whether or not those before have been accepted; returns when all have, or when stopped.
pub async fn publish(context: Context, opener: Opener) -> Result<(), StackError> {
    let Context { parameters, clock, mut stop, .. } = context;
    let failed = |error| StackError::failed("publishing", error);
    let mut attempt = Attempt::start(clock.clone(), 0, None);
    let length = Messages::new(&parameters).length();
    let stamps = AmqpStamps::new(bytes_before(length), length);
    let mut opened = opener.open(stamps, &mut attempt).await.map_err(failed)?;
    let mut sender = attach_sender(&mut opened, &opener.options, NOTIFY_ADDRESS).await.map_err(failed)?;
    let changes = Changes::new(&parameters, clock);
    let published = tokio::select! {
        published = send_all(&opened, &mut sender, opener.options.delivery, changes) => published,
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
    while let Some(outcome) = outcomes.join_next().await {
        judge(outcome.expect("no panic")?)?;
    }
    Ok(())
}
