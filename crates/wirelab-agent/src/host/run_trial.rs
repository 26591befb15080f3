//! Runs one trial in a process of its own, and collects its result.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use wirelab_net::cpu_quota::{CpuQuota, SHARES, Used};
use wirelab_net::namespace::NetNamespace;
use wirelab_net::process::{Confinement, FirstProcess};
use wirelab_net::topology::{Shape, SlotNamespaces};
use wirelab_net::{clock, destroy_sockets};
use wirelab_schema::{CaptureFiles, Clock, CpuLimit, LinkTrial, RestartPlan, TrialRequest, TrialResult, TrialStatus};

use super::slots::{self, Slots};
use super::{Refusal, Running, lock};
use crate::confirm::confirm;
use crate::link::At;
use crate::own_program;
use crate::taps::{self, KeyLog};
use crate::trial::{TrialHost, TrialOutcome, TrialPlan};

/// How long after its own time-out a trial process may take to end everything.
const OVERTIME: Duration = Duration::from_secs(10);
/// Share of a CPU for samples of the endpoints' memory, of the trials of all slots together.
pub const SAMPLING: f64 = 0.01;

/// Run one trial in a slot that is free. When it returns, all its processes are gone.
pub fn run(slots: &Slots, request: &TrialRequest, running: &Running) -> Result<TrialResult, Refusal> {
    check_restarts(request)?;
    let links = links(slots, request)?;
    for link in &links {
        slots.set_up(link.at, &link.trial.link, &request.congestion_control)?;
    }
    let slot = slots.slot(request.slot);
    let limits = limits(slots, request)?;
    let dropped = links.iter().map(|link| slot.dropped(link.at.link)).collect::<Result<Vec<_>, _>>()?;
    begin(slots, &links, request)?;
    let places = places(slot, slots.topology().shape(), &links, &limits);
    let outcome = start_and_wait(&places, request, running, slots.sampling_share());
    // The links first: what sockets still say when they are destroyed belongs to no trial.
    let finished: Vec<_> = links.iter().map(|link| slots.link().finish(link.at)).collect();
    // A guest of the virtual clock ends with its only trial.
    if slots.clock() == Clock::Live {
        destroy_leftovers(slot);
    }
    let (mut reports, mut log_error) = (Vec::new(), None);
    for ((finished, link), dropped) in finished.into_iter().zip(&links).zip(dropped) {
        let (mut report, error) = finished?;
        report.kernel_drops += slot.dropped(link.at.link)?.saturating_sub(dropped);
        reports.push(report);
        log_error = log_error.or(error);
    }
    let log_error = log_error.or_else(|| complete_captures(request));
    let shape = &slots.topology().shape().links()[0];
    let mut outcome = outcome?;
    if let (Some(error), TrialStatus::Done) = (log_error, outcome.status) {
        (outcome.status, outcome.error) = (TrialStatus::Failed, Some(error));
    }
    let confirmation = request.confirm.as_ref().map(|asked| confirm(request, asked, shape));
    let TrialOutcome { status, error, start_ns, end_ns, start_realtime_ns, steal_ns, endpoints, own_proc: _ } = outcome;
    let (trial, others) = (request.trial.clone(), reports.split_off(1));
    let link = reports.remove(0);
    let cpu_limits = limits.iter().map(|(host, quota)| Ok((host.clone(), limit(&quota.used()?))));
    let cpu_limits = cpu_limits.collect::<anyhow::Result<_>>()?;
    let other_links = links[1..].iter().map(|link| link.name.to_owned()).zip(others).collect();
    Ok(TrialResult {
        trial,
        status,
        error,
        start_ns,
        end_ns,
        start_realtime_ns,
        steal_ns,
        endpoints,
        link,
        other_links,
        cpu_limits,
        confirmation,
    })
}

/// A restart must be over before the next one begins, and what ends a trial has no restart.
fn check_restarts(request: &TrialRequest) -> Result<(), Refusal> {
    for endpoint in &request.endpoints {
        let Some(RestartPlan { down_ns, every_ns, .. }) = endpoint.restart else { continue };
        if endpoint.ends_trial {
            return Err(Refusal::new(format!("restart: `{}` ends the trial", endpoint.name)));
        }
        if down_ns == 0 {
            return Err(Refusal::new(format!("restart: `{}` is down for 0 ns", endpoint.name)));
        }
        if let Some(every_ns) = every_ns.filter(|every_ns| *every_ns <= down_ns) {
            let what = format!("restart: `{}` is down for {down_ns} ns every {every_ns} ns", endpoint.name);
            return Err(Refusal::new(what));
        }
    }
    Ok(())
}

/// Groups for the processes of the hosts that are limited, by host.
fn limits(slots: &Slots, request: &TrialRequest) -> Result<BTreeMap<String, CpuQuota>, Refusal> {
    let mut limits = BTreeMap::new();
    for (host, share) in &request.cpu_shares {
        if !slots.slot(request.slot).hosts().any(|(name, _)| name == host) {
            return Err(Refusal::new(format!("cpu_shares: there is no host `{host}`")));
        }
        if !SHARES.contains(share) {
            let (minimum, maximum) = (SHARES.start(), SHARES.end());
            return Err(Refusal::new(format!("cpu_shares: {share} of `{host}` is not from {minimum} to {maximum}")));
        }
        let quotas =
            slots.cpu_quotas().ok_or_else(|| Refusal::new("cpu_shares: `open` was requested without `cpu_quota`"))?;
        let quotas =
            quotas.map_err(|error| Refusal::new(format!("cpu_shares: no CPU time can be limited: {error}")))?;
        limits.insert(host.clone(), quotas.limit(*share)?);
    }
    Ok(limits)
}

fn limit(used: &Used) -> CpuLimit {
    CpuLimit {
        quota_ns: used.quota.as_nanos() as u64,
        period_ns: used.period.as_nanos() as u64,
        periods: used.periods,
        throttled_periods: used.throttled_periods,
        throttled_ns: used.throttled.as_nanos() as u64,
    }
}

/// A link of a trial.
struct TrialOfLink<'a> {
    name: &'a str,
    at: At,
    trial: Cow<'a, LinkTrial>,
    /// By host.
    captures: BTreeMap<String, PathBuf>,
}

/// The links of a trial, the slot's first link comes first.
fn links<'a>(slots: &'a Slots, request: &'a TrialRequest) -> Result<Vec<TrialOfLink<'a>>, Refusal> {
    let slot_links = slots.topology().shape().links();
    let TrialRequest { link, link_seed, packet_log, rests, .. } = request;
    let first = LinkTrial { link: link.clone(), seed: *link_seed, packet_log: packet_log.clone(), rests: *rests };
    let captures = request.capture.as_ref().map_or_else(BTreeMap::new, |CaptureFiles { client, server, .. }| {
        BTreeMap::from([("client".to_owned(), client.clone()), ("server".to_owned(), server.clone())])
    });
    let at = |link| At { slot: request.slot as usize, link };
    let mut links = vec![TrialOfLink { name: &slot_links[0].name, at: at(0), trial: Cow::Owned(first), captures }];
    for (name, trial) in &request.other_links {
        let Some(number) = (1..slot_links.len()).find(|number| slot_links[*number].name == *name) else {
            let others: Vec<_> = slot_links[1..].iter().map(|link| link.name.as_str()).collect();
            let known = if others.is_empty() { "none".into() } else { others.join(", ") };
            return Err(Refusal::new(format!("other_links: unknown link `{name}`; known: {known}")));
        };
        let captures = BTreeMap::new();
        links.push(TrialOfLink { name, at: at(number), trial: Cow::Borrowed(trial), captures });
    }
    Ok(links)
}

/// Begin a trial on all its links, or on none.
fn begin(slots: &Slots, links: &[TrialOfLink<'_>], request: &TrialRequest) -> anyhow::Result<()> {
    for (index, TrialOfLink { at, trial, captures, .. }) in links.iter().enumerate() {
        let begun = slots.link().begin(*at, trial, request.header_bytes, captures.clone());
        if let Err(error) = begun {
            for link in &links[..index] {
                // Its error would hide the first.
                let _ = slots.link().finish(link.at);
            }
            return Err(error);
        }
    }
    Ok(())
}

/// The hosts of a slot with the addresses that the trial's links give them.
fn places<'a>(
    slot: &'a SlotNamespaces,
    shape: &Shape,
    links: &[TrialOfLink<'_>],
    limits: &BTreeMap<String, CpuQuota>,
) -> Vec<Place<'a>> {
    let address = |host: &str, link: &TrialOfLink<'_>| {
        let number = link.at.link;
        let port = shape.links()[number].port_of(host)?;
        Some(slots::numbers(link.trial.link.family.unwrap_or_default())(number, port))
    };
    let place = |(name, namespace): (&'a str, &'a NetNamespace)| Place {
        name,
        namespace: namespace.as_fd(),
        addresses: links.iter().filter_map(|link| address(name, link)).collect(),
        joined_by: limits.get(name).map(CpuQuota::joined_by),
    };
    slot.hosts().map(place).collect()
}

/// Put the captures in order, with the secrets that the endpoints left. Says why that failed.
fn complete_captures(request: &TrialRequest) -> Option<String> {
    let CaptureFiles { client, server, key_logs } = request.capture.as_ref()?;
    let key_logs = key_logs.iter().cloned().map(KeyLog::whole).collect::<Vec<_>>();
    let completed = taps::complete([client, server].map(PathBuf::as_path), &key_logs);
    completed.err().map(|error| format!("{error:#}"))
}

/// A trial process without endpoints: fails where PID namespaces do. True if it had a `/proc` in a mount namespace of its own.
pub fn rehearse() -> anyhow::Result<bool> {
    let plan = TrialPlan { hosts: BTreeMap::new(), endpoints: vec![], timeout_ns: 0, sampling_share: Some(SAMPLING) };
    let mut first = start(&[], &plan)?;
    let outcome = wait(&mut first.child, OVERTIME);
    end(first);
    Ok(outcome?.own_proc)
}

/// Where processes of a host run.
pub struct Place<'a> {
    /// The host.
    pub name: &'a str,
    pub namespace: BorrowedFd<'a>,
    /// At which servers may listen.
    pub addresses: Vec<IpAddr>,
    /// File by which processes join their control group, if they are limited.
    pub joined_by: Option<PathBuf>,
}

/// Run the endpoints of a trial in the namespaces of their hosts. When it returns, all of them are gone.
pub fn start_and_wait(
    hosts: &[Place<'_>],
    request: &TrialRequest,
    running: &Running,
    sampling_share: Option<f64>,
) -> anyhow::Result<TrialOutcome> {
    let host = |Place { name, namespace, addresses, joined_by }: &Place<'_>| {
        let (namespace, addresses, joined_by) = (namespace.as_raw_fd(), addresses.clone(), joined_by.clone());
        ((*name).to_owned(), TrialHost { namespace, addresses, joined_by })
    };
    let plan = TrialPlan {
        hosts: hosts.iter().map(host).collect(),
        endpoints: request.endpoints.clone(),
        timeout_ns: request.timeout_ns,
        sampling_share,
    };
    let start_ns = clock::now().as_nanos();
    let start_realtime_ns = clock::realtime_ns();
    let mut first = start(&hosts.iter().map(|place| place.namespace).collect::<Vec<_>>(), &plan)?;
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
        steal_ns: None,
        endpoints: vec![],
        own_proc: false,
    }))
}

/// Start a trial process and tell it its plan.
fn start(namespaces: &[BorrowedFd<'_>], plan: &TrialPlan) -> anyhow::Result<FirstProcess> {
    let mut command = own_program();
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

/// Connections that outlive their process would go on retransmitting into the next trial of the slot.
fn destroy_leftovers(slot: &SlotNamespaces) {
    for (_, namespace) in slot.hosts() {
        // Where the kernel cannot, `facts` says so.
        let _ = namespace.run(destroy_sockets);
    }
}
