//! The supervisor of a campaign: owns its namespaces, its link process and its trials. One JSON request a line on stdin, one reply a line on
//! stdout; trials run side by side, a thread each. When stdin ends, or this process dies however it does, everything that it started dies.

pub mod facts;
mod link_client;
pub mod run_trial;
mod scratch;
pub mod slots;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ExitCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use wirelab_net::{namespace, process};
use wirelab_schema::{HostFacts, HostOp, HostReply, HostRequest, HostResult, OpenSlots, TrialRequest};

use run_trial::rehearse;
use scratch::Scratch;
use slots::Slots;

#[derive(clap::Args)]
pub struct Arguments {
    /// Make this folder, which must not exist, and remove it with all that is in it at the end.
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
    /// Carry out each request to its end before the next one is read: nobody waits for the replies.
    #[arg(long)]
    one_at_a_time: bool,
}

pub fn run(arguments: Arguments) -> ExitCode {
    process::ignore_terminal();
    let _ = process::raise_open_files();
    let scratch = arguments.scratch.map(Scratch::make).transpose();
    let Ok(_scratch) = scratch.inspect_err(|error| eprintln!("wirelab-agent host: {error:#}")) else {
        return ExitCode::FAILURE;
    };
    // Before any thread exists.
    let mut host =
        Host { rootless: namespace::gain_namespaces(), slots: None, running: Arc::default(), trials: Vec::new() };
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str::<HostRequest>(&line) {
            Ok(request) => {
                host.handle(request);
                if arguments.one_at_a_time {
                    host.join();
                }
            }
            Err(error) => {
                eprintln!("wirelab-agent host: cannot read the request `{line}`: {error}");
                return ExitCode::from(2);
            }
        }
    }
    host.close();
    ExitCode::SUCCESS
}

/// How to cancel the trials that run: where their processes listen.
pub type Running = Arc<Mutex<HashMap<String, Cancel>>>;

struct Host {
    rootless: Result<bool, wirelab_net::Error>,
    slots: Option<Arc<Slots>>,
    running: Running,
    trials: Vec<thread::JoinHandle<()>>,
}

/// How to cancel one trial.
#[derive(Default)]
pub struct Cancel {
    requested: bool,
    words: Option<ChildStdin>,
}

/// A request that could not be carried out.
#[derive(Debug)]
pub struct Refusal {
    message: String,
    hint: Option<String>,
}

impl Host {
    fn handle(&mut self, request: HostRequest) {
        match request.op {
            HostOp::Open(open) => reply(request.id, self.open(&open).unwrap_or_else(Refusal::into)),
            HostOp::RunTrial(trial) => self.run_trial(request.id, *trial),
            HostOp::Cancel { trial } => {
                if let Some(cancel) = lock(&self.running).get_mut(&trial) {
                    cancel.request();
                }
                reply(request.id, HostResult::Cancelled);
            }
        }
    }

    fn open(&mut self, open: &OpenSlots) -> Result<HostResult, Refusal> {
        if self.slots.is_some() {
            return Err(Refusal::new("`open` was already requested"));
        }
        let rootless = self.rootless.as_ref().map_err(|error| Refusal {
            message: format!("this machine does not let an ordinary user make namespaces ({error})"),
            hint: Some("`wirelab doctor` tries each step and names the fix".into()),
        })?;
        let slots = Arc::new(Slots::open(open, &self.running)?);
        let facts = if open.facts_known { HostFacts::default() } else { facts::collect(*rootless, &slots)? };
        self.slots = Some(slots);
        Ok(HostResult::Opened(facts))
    }

    fn run_trial(&mut self, id: u64, request: TrialRequest) {
        let Some(slots) = self.slots.clone() else {
            return reply(id, Refusal::new("`open` must be requested first").into());
        };
        if lock(&self.running).contains_key(&request.trial) {
            return reply(id, Refusal::new(format!("trial {} is running already", request.trial)).into());
        }
        if let Err(refusal) = slots.occupy(request.slot) {
            return reply(id, refusal.into());
        }
        lock(&self.running).insert(request.trial.clone(), Cancel::default());
        let running = self.running.clone();
        self.trials.retain(|trial| !trial.is_finished());
        self.trials.push(thread::spawn(move || {
            let result = run_trial::run(&slots, &request, &running);
            lock(&running).remove(&request.trial);
            slots.vacate(request.slot);
            reply(id, result.map_or_else(Refusal::into, |result| HostResult::Trial(Box::new(result))));
        }));
    }

    /// Wait for the trials that run.
    fn join(&mut self) {
        for trial in self.trials.drain(..) {
            let _ = trial.join();
        }
    }

    /// End what runs, so that nothing is left when this process is gone.
    fn close(mut self) {
        lock(&self.running).values_mut().for_each(Cancel::request);
        self.join();
        if let Some(slots) = &self.slots {
            slots.close();
        }
    }
}

impl Cancel {
    fn request(&mut self) {
        self.requested = true;
        if let Some(words) = &mut self.words {
            // It fails if the trial has just ended.
            let _ = words.write_all(b"cancel\n").and_then(|()| words.flush());
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = self.hint.as_ref().map(|hint| format!(" ({hint})"));
        write!(formatter, "{}{}", self.message, hint.unwrap_or_default())
    }
}

impl Refusal {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::new(format!("{:#}", error.into()))
    }
}

impl From<Refusal> for HostResult {
    fn from(Refusal { message, hint }: Refusal) -> Self {
        Self::Error { message, hint }
    }
}

fn reply(id: u64, result: HostResult) {
    let mut line = serde_json::to_vec(&HostReply { id, result }).expect("replies are JSON");
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    // If nobody reads it, stdin is about to end as well.
    let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
