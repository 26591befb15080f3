//! The built-in broker: carries bytes of its clients to the engine and back. What packets mean is the engine's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use super::DELIVER_TOPIC;
use super::transport::{Over, serve};
use crate::base::settings::Settings;
use crate::codec::mqtt::{Application, Broker, ConnectionId, Limits, Message, Taken};
use crate::transport::stream::{Stream, push};
use crate::transport::task::Task;
use crate::workload::{Reading, Work};
use crate::{Clock, Context, Received, StackError};

/// How long the last words to a client may take.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The role of the server: the built-in broker, with the application that takes readings.
pub async fn run(over: Over, context: Context, settings: Settings) -> Result<(), StackError> {
    let limits = Limits {
        maximum_packet_size: settings.integer("maximum-packet-size") as u32,
        receive_maximum: settings.integer("receive-maximum") as u16,
        ..Limits::default()
    };
    let readings = Readings::new(&context);
    let hub = Arc::new(Hub {
        state: Mutex::new(State {
            broker: Broker::new(limits, Box::new(readings)),
            wakes: HashMap::new(),
            armed_ns: u64::MAX,
        }),
        timer: Notify::new(),
        clock: context.clock.clone(),
    });
    let _timer = Task::spawn(keep_time(hub.clone()));
    serve(over, context, settings, move |stream| converse(stream, hub.clone())).await
}

/// The application that readings are for.
struct Readings {
    /// What each has to be, and its topic; `None` if the workload has none.
    reading: Option<(String, Bytes)>,
    received: Received,
}

impl Readings {
    fn new(context: &Context) -> Self {
        let parameters = &context.parameters;
        let reading = match Work::of(&parameters.workload) {
            Work::Exchanges(_) => {
                let Reading { topic, body } = Reading::of(parameters);
                Some((topic.unwrap_or_else(|| DELIVER_TOPIC.to_owned()), body))
            }
            Work::Changes(_) | Work::Page(_) => None,
        };
        Readings { reading, received: context.received.clone() }
    }
}

impl Application for Readings {
    /// A foreign client's reading is checked by its length, for it does not know the bytes.
    fn take(&mut self, client_id: &str, message: &Message) -> Taken {
        let Some((_, reading)) = self.reading.as_ref().filter(|(topic, _)| message.topic == *topic) else {
            return Taken::NotMine;
        };
        let right = match super::sessions::is_ours(client_id) {
            true => message.payload == reading,
            false => message.payload.len() == reading.len(),
        };
        if !right {
            return Taken::Refused;
        }
        self.received.note();
        Taken::Yes
    }
}

/// The broker and the tasks that carry its bytes.
struct Hub {
    state: Mutex<State>,
    timer: Notify,
    clock: Arc<dyn Clock>,
}

struct State {
    broker: Broker,
    wakes: HashMap<ConnectionId, Arc<Notify>>,
    /// When the timer's task will look.
    armed_ns: u64,
}

impl Hub {
    /// Has the broker do something, and wakes the tasks of all connections that it did it to.
    fn with_broker<T>(&self, act: impl FnOnce(&mut Broker, u64) -> T) -> T {
        let now_ns = self.clock.now_ns();
        let mut state = self.lock();
        let done = act(&mut state.broker, now_ns);
        while let Some(id) = state.broker.poll_woken() {
            if let Some(wake) = state.wakes.get(&id) {
                wake.notify_one();
            }
        }
        if state.broker.poll_timeout().is_some_and(|at_ns| at_ns < state.armed_ns) {
            self.timer.notify_one();
        }
        done
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }
}

/// A connection that the broker knows until dropped.
struct Open {
    id: ConnectionId,
    hub: Arc<Hub>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.hub.with_broker(|broker, now_ns| broker.closed(self.id, now_ns));
        self.hub.lock().wakes.remove(&self.id);
    }
}

/// Calls the broker when something is due.
async fn keep_time(hub: Arc<Hub>) {
    loop {
        let at_ns = {
            let mut state = hub.lock();
            state.armed_ns = state.broker.poll_timeout().unwrap_or(u64::MAX);
            state.armed_ns
        };
        tokio::select! {
            () = hub.clock.sleep_until(at_ns) => hub.with_broker(|broker, now_ns| broker.handle_timeout(now_ns)),
            () = hub.timer.notified() => {}
        }
    }
}

/// Carries bytes between the broker and one client until either ends.
async fn converse(stream: Box<dyn Stream>, hub: Arc<Hub>) {
    let open = Open { id: hub.with_broker(Broker::open), hub: hub.clone() };
    let wake = Arc::new(Notify::new());
    hub.lock().wakes.insert(open.id, wake.clone());
    // A connection that breaks is the client's to report.
    let _ = carry(stream, &open, &wake).await;
}

async fn carry(stream: Box<dyn Stream>, open: &Open, wake: &Notify) -> std::io::Result<()> {
    let Open { id, hub } = open;
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut buffer = vec![0; 64 * 1024];
    let mut output = Bytes::new();
    let mut unflushed = false;
    loop {
        let (closing, congested) = hub.with_broker(|broker, now_ns| {
            if output.is_empty() {
                output = broker.take_output(*id, now_ns);
            }
            (broker.is_closing(*id), broker.is_congested(*id))
        });
        if closing {
            let last_words = async {
                while !output.is_empty() {
                    writer.write_all(&output).await?;
                    output = hub.with_broker(|broker, now_ns| broker.take_output(*id, now_ns));
                }
                writer.shutdown().await
            };
            return tokio::time::timeout(LAST_WORDS, last_words).await?;
        }
        tokio::select! {
            read = reader.read(&mut buffer), if !congested => {
                let length = read?;
                if length == 0 {
                    return Ok(());
                }
                hub.with_broker(|broker, now_ns| broker.receive(*id, &buffer[..length], now_ns));
            }
            written = push(&mut writer, &output), if unflushed || !output.is_empty() => {
                let length = written?;
                unflushed = length > 0;
                output.advance(length);
            }
            () = wake.notified() => {}
        }
    }
}
