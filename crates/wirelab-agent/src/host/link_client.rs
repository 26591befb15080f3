use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use wirelab_net::process::{self, Confinement};
use wirelab_net::scheduling;
use wirelab_net::topology::Topology;
use wirelab_schema::{LinkReport, OpenLanes, TrialRequest};

use super::{Cancel, Running, lock};
use crate::link::{LinkCommand, LinkEvent};

/// How long the link process may take for an answer: it may wait for a disk.
const ANSWER: Duration = Duration::from_secs(60);
/// How long it may take to end when its stdin has ended.
const END: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);

/// The link process, as the host sees it.
pub struct LinkClient {
    process: Mutex<Option<(Child, ChildStdin)>>,
    waiting: Arc<Mutex<Option<Waiting>>>,
    scheduling: String,
    cpu: Option<usize>,
    cpus: u32,
    memory_locked: bool,
}

/// Who waits for the next event of which lane. `None` once the process has ended.
type Waiting = HashMap<usize, Sender<LinkEvent>>;

impl LinkClient {
    /// Start it in the link's namespace, and leave it the CPU that it takes for itself. The calling thread must live as long as the host: the
    /// process dies with it. Should it end before, the trials that are `running` are cancelled.
    pub fn start(topology: &Topology, open: &OpenLanes, running: &Running) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("finding this program")?);
        command.args(["link", "--lanes", &open.lanes.to_string(), "--mtu", &open.mtu.to_string()]);
        if open.offloads {
            command.arg("--offloads");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let confinement = Confinement { network: Some(topology.link().as_fd()), ..Confinement::default() };
        let mut child = process::spawn(&mut command, &confinement).context("starting the link process")?;
        let stdin = child.stdin.take().expect("it is piped");
        let mut events = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        events.read_line(&mut line)?;
        let Ok(LinkEvent::Started { scheduling, cpu, memory_locked }) = serde_json::from_str(&line) else {
            bail!("the link process did not start; its reason is on stderr");
        };
        let cpus = scheduling::cpus().len() as u32;
        let cpu = cpu.filter(|cpu| scheduling::leave(*cpu));
        let waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let (distributed, running) = (waiting.clone(), running.clone());
        thread::spawn(move || {
            distribute(events, &distributed);
            lock(&running).values_mut().for_each(Cancel::request);
        });
        Ok(Self { process: Mutex::new(Some((child, stdin))), waiting, scheduling, cpu, cpus, memory_locked })
    }

    /// Scheduling that its loop was given.
    pub fn scheduling(&self) -> &str {
        &self.scheduling
    }

    /// CPU that its loop has for itself.
    pub fn cpu(&self) -> Option<usize> {
        self.cpu
    }

    /// How many CPUs there are for it and the endpoints together.
    pub fn cpus(&self) -> u32 {
        self.cpus
    }

    /// True if it cannot be paged out.
    pub fn memory_locked(&self) -> bool {
        self.memory_locked
    }

    /// Begin a trial in its lane.
    pub fn begin(&self, request: &TrialRequest) -> anyhow::Result<()> {
        let lane = request.lane as usize;
        let command = LinkCommand::Begin {
            lane,
            link: Box::new(request.link.clone()),
            seed: request.link_seed,
            packet_log: request.packet_log.clone(),
            header_bytes: request.header_bytes,
            capture: request.capture.clone(),
        };
        match self.ask(lane, &command)? {
            LinkEvent::Begun { .. } => Ok(()),
            other => bail!(unexpected(other)),
        }
    }

    /// End the trial in a lane. The second value says why its packet log or a capture is incomplete.
    pub fn finish(&self, lane: usize) -> anyhow::Result<(LinkReport, Option<String>)> {
        match self.ask(lane, &LinkCommand::Finish { lane })? {
            LinkEvent::Finished { report, log_error, .. } => Ok((report, log_error)),
            other => bail!(unexpected(other)),
        }
    }

    /// End the process.
    pub fn close(&self) {
        if let Some((mut child, stdin)) = lock(&self.process).take() {
            drop(stdin);
            let give_up = Instant::now() + END;
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < give_up {
                thread::sleep(LOOK);
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn ask(&self, lane: usize, command: &LinkCommand) -> anyhow::Result<LinkEvent> {
        let answer = self.register(lane)?;
        let mut line = serde_json::to_vec(command)?;
        line.push(b'\n');
        if let Some((_, stdin)) = lock(&self.process).as_mut() {
            stdin.write_all(&line).and_then(|()| stdin.flush()).context("talking to the link process")?;
        }
        match answer.recv_timeout(ANSWER) {
            Ok(event) => Ok(event),
            Err(RecvTimeoutError::Disconnected) => bail!("the link process ended"),
            Err(RecvTimeoutError::Timeout) => {
                // A late answer would be taken for that of a later order.
                self.close();
                bail!("the link process did not answer within {ANSWER:?} and was ended")
            }
        }
    }

    fn register(&self, lane: usize) -> anyhow::Result<Receiver<LinkEvent>> {
        let (sender, receiver) = bounded(1);
        let mut waiting = lock(&self.waiting);
        waiting.as_mut().context("the link process ended")?.insert(lane, sender);
        Ok(receiver)
    }
}

fn distribute(events: BufReader<ChildStdout>, waiting: &Mutex<Option<Waiting>>) {
    for line in events.lines() {
        let Ok(event) =
            line.map_err(anyhow::Error::from).and_then(|line| Ok(serde_json::from_str::<LinkEvent>(&line)?))
        else {
            break;
        };
        let lane = match &event {
            LinkEvent::Started { .. } => continue,
            LinkEvent::Begun { lane } | LinkEvent::Finished { lane, .. } | LinkEvent::Failed { lane, .. } => *lane,
        };
        if let Some(sender) = lock(waiting).as_mut().and_then(|waiting| waiting.remove(&lane)) {
            let _ = sender.send(event);
        }
    }
    // Whoever still waits learns it from the closed channel.
    *lock(waiting) = None;
}

fn unexpected(event: LinkEvent) -> String {
    match event {
        LinkEvent::Failed { message, .. } => message,
        other => format!("the link process answered {other:?}"),
    }
}
