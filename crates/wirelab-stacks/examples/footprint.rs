//! The least endpoint of one stack, with all its roles, for its size: `bench/footprint` builds it once for each.
//!
//! It takes a parameter file as `wirelab-agent endpoint` does, and keeps no rows. Which stack is chosen while it is compiled, by its place in
//! [`STACKS`], so that the linker leaves the others out; without one there is the runtime, the driver's clock and the reading of parameters alone.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use wirelab_schema::EndpointParameters;
use wirelab_stacks::recorder::NoRecorder;
use wirelab_stacks::{Context, Received, STACKS, Stack, SystemClock, stop_signal};

const STACK: Option<&dyn Stack> = match option_env!("WIRELAB_FOOTPRINT_STACK") {
    Some(place) => Some(STACKS[number(place)]),
    None => None,
};

const fn number(digits: &str) -> usize {
    let (digits, mut place, mut value) = (digits.as_bytes(), 0, 0);
    while place < digits.len() {
        assert!(digits[place].is_ascii_digit());
        value = value * 10 + (digits[place] - b'0') as usize;
        place += 1;
    }
    value
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: footprint PARAMETERS")?;
    let parameters: EndpointParameters = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (stopper, stop) = stop_signal();
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::spawn(async move {
            terminate.recv().await;
            stopper.stop();
        });
        let role = parameters.role;
        let ready = |ports: BTreeMap<String, u16>| println!("{ports:?}");
        let context = Context {
            clock: Arc::new(SystemClock),
            recorder: Box::new(NoRecorder),
            stop,
            ready: Box::new(ready),
            received: Received::default(),
            parameters,
        };
        match STACK {
            Some(stack) => Ok(stack.run(role, context).await?),
            None => Err("it has no stack".into()),
        }
    })
}
