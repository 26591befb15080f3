//! The first process of a trial's PID namespace: starts the trial's endpoints, waits for them, ends what is left, says how each went.
//!
//! The plan is the first line on stdin, the result the one line on stdout. When stdin ends, the host is dead, and this process ends immediately,
//! with everything in its namespace.

mod endpoints;
mod inbox;
mod readiness;
mod tree;
mod usage;
mod waits;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use wirelab_net::process;
use wirelab_schema::{EndpointProcess, EndpointResult, TrialStatus};

use endpoints::Endpoints;
pub use endpoints::{DEFAULT_PATH, find, tail};
use inbox::Inbox;

#[derive(clap::Args)]
pub struct Arguments {}

/// What the host asks of a trial process.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrialPlan {
    /// By name.
    pub hosts: BTreeMap<String, TrialHost>,
    /// In start order. None at all is a rehearsal: it shows what namespaces the machine allows.
    pub endpoints: Vec<EndpointProcess>,
    /// The whole trial is ended after this long.
    pub timeout_ns: u64,
    /// Share of a CPU that samples of memory may use. Under a virtual clock it is absent, and neither memory nor CPU time is told.
    pub sampling_share: Option<f64>,
}

/// Where processes of a host run.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrialHost {
    /// Descriptor of its network namespace, inherited under this number.
    pub namespace: i32,
    /// At which readiness is probed.
    pub addresses: Vec<IpAddr>,
    /// File by which its processes join their control group, if they are limited.
    pub joined_by: Option<PathBuf>,
}

/// The result.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrialOutcome {
    pub status: TrialStatus,
    pub error: Option<String>,
    pub start_ns: u64,
    pub end_ns: u64,
    pub start_realtime_ns: u64,
    pub steal_ns: Option<u64>,
    pub endpoints: Vec<EndpointResult>,
    /// True if the trial had a `/proc` of its own.
    pub own_proc: bool,
}

pub fn run(_arguments: Arguments) -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelab-agent trial: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> anyhow::Result<()> {
    // At the end it kills everything that it can see.
    anyhow::ensure!(std::process::id() == 1, "only `wirelab-agent host` starts this, in a PID namespace of its own");
    let mut inbox = Inbox::new().context("watching stdin and children")?;
    let plan: TrialPlan = serde_json::from_str(&inbox.first_line()?).context("reading the plan")?;
    let hosts = plan.hosts.iter().map(|(name, host)| Ok((name.clone(), process::inherited(host.namespace)?)));
    let hosts: BTreeMap<String, OwnedFd> = hosts.collect::<Result<_, wirelab_net::Error>>()?;
    let own_proc = process::mount_own_proc();
    if let Err(error) = &own_proc
        && plan.endpoints.is_empty()
    {
        eprintln!("wirelab-agent trial: {error}; endpoints see the machine's /proc");
    }
    let outcome = Endpoints::new(&plan, &hosts, &mut inbox, own_proc.is_ok()).run();
    let mut line = serde_json::to_vec(&outcome)?;
    line.push(b'\n');
    io::stdout().write_all(&line).context("answering the host")
}
