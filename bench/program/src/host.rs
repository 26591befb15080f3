//! The agent's host as a process: slots, and trials in them, by lines of JSON. It decides nothing of what is measured.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, bail, ensure};
use wirelab_schema::{
    HostFacts, HostOp, HostReply, HostRequest, HostResult, OpenSlots, TrialRequest, TrialResult, TrialStatus,
};

/// Which agent carries the links.
#[derive(clap::Args)]
pub struct Agent {
    /// The agent that carries the links.
    #[arg(long = "agent", value_name = "PROGRAM", default_value = "wirelab-agent")]
    pub program: PathBuf,
}

/// Where the host's endpoints find this program.
pub fn own_program() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("finding this program")?;
    path.into_os_string().into_string().map_err(|path| anyhow::anyhow!("{} is not UTF-8", path.display()))
}

/// A host with open slots. When it is dropped, or this process ends, everything in it ends.
pub struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
    next: u64,
}

impl Host {
    /// Start one, and make slots with one link each.
    pub fn open(agent: &Path, slots: u32, mtu: u32) -> anyhow::Result<(Self, HostFacts)> {
        let mut command = Command::new(agent);
        command.arg("host").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("starting {}", agent.display()))?;
        let stdin = child.stdin.take();
        let replies = BufReader::new(child.stdout.take().context("the host has a stdout")?);
        let mut host = Self { child, stdin, replies, next: 0 };
        host.send(HostOp::Open(OpenSlots { slots, mtu, ..OpenSlots::default() }))?;
        match host.receive()?.result {
            HostResult::Opened(facts) => Ok((host, facts)),
            HostResult::Error { message, .. } => bail!(message),
            other => bail!("the host answered {other:?}"),
        }
    }

    /// Run trials side by side, each in its slot; an error if one of them is not done. Their results are in the order of the requests.
    pub fn run(&mut self, trials: &[TrialRequest]) -> anyhow::Result<Vec<TrialResult>> {
        let first = self.next;
        for trial in trials {
            self.send(HostOp::RunTrial(Box::new(trial.clone())))?;
        }
        let mut results: Vec<Option<TrialResult>> = vec![None; trials.len()];
        for _ in trials {
            let HostReply { id, result } = self.receive()?;
            let result = match result {
                HostResult::Trial(result) => *result,
                HostResult::Error { message, .. } => bail!(message),
                other => bail!("the host answered {other:?}"),
            };
            ensure!(result.status == TrialStatus::Done, "{}: {:?}", result.trial, result.error);
            let place = id.checked_sub(first).and_then(|place| results.get_mut(place as usize));
            *place.with_context(|| format!("the host answered request {id}"))? = Some(result);
        }
        results.into_iter().collect::<Option<_>>().context("the host answered a request twice")
    }

    fn send(&mut self, op: HostOp) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&HostRequest { id: self.next, op })?;
        line.push(b'\n');
        self.next += 1;
        self.stdin.as_mut().context("the host has a stdin")?.write_all(&line).context("asking the host")
    }

    fn receive(&mut self) -> anyhow::Result<HostReply> {
        let mut line = String::new();
        self.replies.read_line(&mut line).context("reading the host's answer")?;
        ensure!(!line.is_empty(), "the host ended");
        serde_json::from_str(&line).with_context(|| format!("the host answered {line}"))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It ends with its stdin.
        self.stdin = None;
        let _ = self.child.wait();
    }
}
