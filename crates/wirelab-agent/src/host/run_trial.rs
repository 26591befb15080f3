use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use wirelab_net::process::{Confinement, FirstProcess};
use wirelab_net::topology::{IPV4, LaneNamespaces};
use wirelab_net::{clock, destroy_sockets};
use wirelab_schema::{CaptureFiles, TrialRequest, TrialResult, TrialStatus};

use super::lanes::{self, Lanes};
use super::{Refusal, Running, lock};
use crate::taps;
use crate::trial::{TrialOutcome, TrialPlan};

/// How long after its own time-out a trial process may take to end everything.
const OVERTIME: Duration = Duration::from_secs(10);

/// Run one trial in a lane that is free. When it returns, all its processes are gone.
pub fn run(lanes: &Lanes, request: &TrialRequest, running: &Running) -> Result<TrialResult, Refusal> {
    lanes.set_up(request.lane, &request.link, &request.congestion_control)?;
    let lane = lanes.lane(request.lane);
    let dropped = lane.dropped()?;
    lanes.link().begin(request)?;
    let hosts = [("client", lane.client.as_fd()), ("server", lane.server.as_fd())];
    let outcome = start_and_wait(&hosts, request, running);
    // The link first: what sockets still say when they are destroyed belongs to no trial.
    let finished = lanes.link().finish(request.lane as usize);
    destroy_leftovers(lane);
    let (mut link, log_error) = finished?;
    let log_error = log_error.or_else(|| complete_captures(request));
    link.kernel_drops += lane.dropped()?.saturating_sub(dropped);
    let mut outcome = outcome?;
    if let (Some(error), TrialStatus::Done) = (log_error, outcome.status) {
        (outcome.status, outcome.error) = (TrialStatus::Failed, Some(error));
    }
    let TrialOutcome { status, error, start_ns, end_ns, start_realtime_ns, endpoints, own_proc: _ } = outcome;
    let trial = request.trial.clone();
    Ok(TrialResult { trial, status, error, start_ns, end_ns, start_realtime_ns, endpoints, link })
}

/// Put the captures in order, with the secrets that the endpoints left. Says why that failed.
fn complete_captures(request: &TrialRequest) -> Option<String> {
    let CaptureFiles { client, server, key_logs } = request.capture.as_ref()?;
    let completed = taps::complete([client, server].map(PathBuf::as_path), key_logs);
    completed.err().map(|error| format!("{error:#}"))
}

/// A trial process without endpoints: fails where PID namespaces do. True if it had a `/proc` in a mount namespace of its own.
pub fn rehearse() -> anyhow::Result<bool> {
    let plan = TrialPlan { hosts: BTreeMap::new(), server_address: IPV4.server, endpoints: vec![], timeout_ns: 0 };
    let mut first = start(&[], &plan)?;
    let outcome = wait(&mut first.child, OVERTIME);
    end(first);
    Ok(outcome?.own_proc)
}

/// Run the endpoints of a trial in the namespaces of their hosts. When it returns, all of them are gone.
pub fn start_and_wait(
    hosts: &[(&str, BorrowedFd<'_>)],
    request: &TrialRequest,
    running: &Running,
) -> anyhow::Result<TrialOutcome> {
    let plan = TrialPlan {
        hosts: hosts.iter().map(|(name, namespace)| ((*name).to_owned(), namespace.as_raw_fd())).collect(),
        server_address: lanes::addresses(request.link.family.unwrap_or_default()).server,
        endpoints: request.endpoints.clone(),
        timeout_ns: request.timeout_ns,
    };
    let start_ns = clock::now().as_nanos();
    let start_realtime_ns = clock::realtime_ns();
    let mut first = start(&hosts.iter().map(|(_, namespace)| *namespace).collect::<Vec<_>>(), &plan)?;
    let stdin = first.child.stdin.take();
    if let Some(cancel) = lock(running).get_mut(&request.trial) {
        cancel.words = stdin;
        if cancel.requested {
            cancel.request();
        }
    }
    let outcome = wait(&mut first.child, Duration::from_nanos(request.timeout_ns).saturating_add(OVERTIME));
    if let Some(cancel) = lock(running).get_mut(&request.trial) {
        cancel.words = None;
    }
    end(first);
    Ok(outcome.unwrap_or_else(|error| TrialOutcome {
        status: TrialStatus::Failed,
        error: Some(format!("{error:#}")),
        start_ns,
        end_ns: clock::now().as_nanos(),
        start_realtime_ns,
        endpoints: vec![],
        own_proc: false,
    }))
}

/// Start a trial process and tell it its plan.
fn start(namespaces: &[BorrowedFd<'_>], plan: &TrialPlan) -> anyhow::Result<FirstProcess> {
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command.arg("trial").stdin(Stdio::piped()).stdout(Stdio::piped());
    let confinement = Confinement { inherited: namespaces.to_vec(), ..Confinement::default() };
    let mut first = FirstProcess::spawn(command, &confinement).context("making a PID namespace")?;
    let mut line = serde_json::to_vec(plan)?;
    line.push(b'\n');
    let stdin = first.child.stdin.as_mut().expect("it is piped");
    stdin.write_all(&line).and_then(|()| stdin.flush()).context("talking to the trial process")?;
    Ok(first)
}

/// When the first process is gone, so is its namespace.
fn end(mut first: FirstProcess) {
    let _ = first.child.kill();
    let _ = first.child.wait();
}

/// Its outcome; an error if there is none after `limit`.
fn wait(child: &mut Child, limit: Duration) -> anyhow::Result<TrialOutcome> {
    let (sender, receiver) = channel();
    let stdout = child.stdout.take().expect("it is piped");
    thread::spawn(move || sender.send(parse(BufReader::new(stdout))));
    match receiver.recv_timeout(limit) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => anyhow::bail!("the trial process did not end its endpoints"),
        Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the trial process ended"),
    }
}

fn parse(mut stdout: impl BufRead) -> anyhow::Result<TrialOutcome> {
    let mut line = String::new();
    stdout.read_line(&mut line)?;
    serde_json::from_str(&line).context("the trial process ended without a word")
}

/// Connections that outlive their process would go on retransmitting into the next trial of the lane.
fn destroy_leftovers(lane: &LaneNamespaces) {
    for namespace in [&lane.client, &lane.server] {
        // Where the kernel cannot, `facts` says so.
        let _ = namespace.run(destroy_sockets);
    }
}
