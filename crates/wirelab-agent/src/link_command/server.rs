//! The server behind a link: started, waited for until it listens, and ended with all its processes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use wirelab_net::clock;
use wirelab_net::namespace::NetNamespace;
use wirelab_net::pid_namespace::{Group, PidNamespace, Place};
use wirelab_net::topology::SingleLink;

use super::client::{command, not_started};
use super::failure::Failure;
use super::ready::{Progress, Ready};
use super::signals::Signals;
use super::{Addresses, GRACE};
use crate::trial;

const PREFIX: &str = "server: ";
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A pause is so many times as long as the look before it, so that waiting leaves the processor to the server.
const LOOKING: u32 = 100;
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// A server that starts at all listens sooner than that.
const UNUSUAL: Duration = Duration::from_secs(3);
const LAST_LINE: Duration = Duration::from_millis(300);

/// The program at the other end.
pub struct Server {
    child: Child,
    output: Output,
    ended: Option<ExitStatus>,
}

/// Where its output goes, and how its last line is found there.
enum Output {
    File(PathBuf),
    Stderr { last: Arc<Mutex<String>>, copiers: Vec<JoinHandle<()>> },
}

impl Server {
    /// Start it in a process group of its own, so that a terminal's signals do not reach it.
    pub fn start(
        family: &PidNamespace,
        ends: &SingleLink,
        words: &[OsString],
        addresses: Addresses,
        signals: &Signals,
        log: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let mut command = command(words, addresses).map_err(Failure::of_the_server)?;
        command.stdin(Stdio::null());
        match &log {
            Some(path) => {
                let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
                command.stdout(file.try_clone()?).stderr(file);
            }
            None => {
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
        }
        let place = Place { network: ends.far().as_fd(), group: Group::Own, blocked: signals.before() };
        let child = family.spawn(command, &place);
        let mut child = child.map_err(|error| not_started(&words[0], &error).of_the_server())?;
        let output = match log {
            Some(path) => Output::File(path),
            None => Output::copy(&mut child)?,
        };
        Ok(Self { child, output, ended: None })
    }

    /// Wait until it is ready; fails if it ends before, is not ready in time, or can be reached at its own end alone. Says that it waits when that
    /// takes long, unless it is to be `quiet`.
    pub fn wait_until_ready(
        &mut self,
        namespace: &NetNamespace,
        ready: Ready,
        address: IpAddr,
        signals: &Signals,
        quiet: bool,
    ) -> Result<(), Failure> {
        let start = clock::now();
        let (mut said_so, mut deaf_since) = (quiet || ready.is_a_time(), None);
        loop {
            let looked = clock::now();
            match namespace.run(|| Ok(ready.look(looked.saturating_since(start))))? {
                Progress::Ready => return Ok(()),
                Progress::Loopback(at) => {
                    if looked.saturating_since(*deaf_since.get_or_insert(looked)) >= UNUSUAL {
                        return Err(unreachable(at, address));
                    }
                }
                Progress::Nothing => {
                    deaf_since = None;
                    if !said_so && looked.saturating_since(start) >= UNUSUAL {
                        eprintln!("wirelab: waiting for the server, for at most {:?}: {ready}", ready.patience());
                        said_so = true;
                    }
                }
            }
            let look = clock::now().saturating_since(looked);
            if let Some(how) = self.end_seen() {
                return Err(Failure::new(format!("the server {how} before it was ready")));
            }
            if clock::now().saturating_since(start) > ready.patience() {
                return Err(Failure::new(format!("the server is not ready after {:?}: {ready}", ready.patience()))
                    .hint("--server-ready tcp:PORT, udp:PORT or SECONDS says when it is"));
            }
            if let Some(received) = signals.wait(Some(pause(look)))
                && received.ends()
            {
                return Err(Failure::signalled(received.signal as i32));
            }
        }
    }

    /// Tell people, once, if it has ended by itself.
    pub fn warn_if_ended(&mut self) {
        if self.ended.is_none()
            && let Some(how) = self.end_seen()
        {
            eprintln!("warning: the server {how}");
        }
    }

    /// SIGTERM, and SIGKILL if that does not help. What it started goes with the PID namespace.
    pub fn end(&mut self, signals: &Signals) {
        let group = Pid::from_raw(self.child.id() as i32);
        let give_up = clock::now() + GRACE;
        if self.try_wait().is_none() {
            let _ = killpg(group, Signal::SIGTERM);
        }
        while self.try_wait().is_none() && clock::now() < give_up {
            if signals.wait(Some(LOOK_EVERY)).is_some_and(|received| received.ends()) {
                break;
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Wait until all of its output is passed on. Its PID namespace must be gone.
    pub fn hear_out(self) {
        if let Output::Stderr { copiers, .. } = self.output {
            copiers.into_iter().for_each(|copier| drop(copier.join()));
        }
    }

    fn try_wait(&mut self) -> Option<ExitStatus> {
        self.ended = self.ended.or_else(|| self.child.try_wait().ok().flatten());
        self.ended
    }

    /// How it ended, with its last line.
    fn end_seen(&mut self) -> Option<String> {
        let status = self.try_wait()?;
        let how = match (status.code(), status.signal().and_then(|number| Signal::try_from(number).ok())) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => format!("was ended by {signal}"),
            (None, None) => "ended".into(),
        };
        Some(match self.output.last_line() {
            Some(line) => format!("{how} ({line})"),
            None => how,
        })
    }
}

impl Output {
    fn copy(child: &mut Child) -> io::Result<Self> {
        let last = Arc::new(Mutex::new(String::new()));
        let stdout = child.stdout.take().map(|pipe| copy(pipe, last.clone()));
        let stderr = child.stderr.take().map(|pipe| copy(pipe, last.clone()));
        Ok(Self::Stderr { last, copiers: [stdout, stderr].into_iter().flatten().collect::<io::Result<_>>()? })
    }

    /// The last line that is not empty. The server must have ended.
    fn last_line(&mut self) -> Option<String> {
        let text = match self {
            Self::File(path) => trial::tail(path),
            Self::Stderr { last, copiers } => {
                // What it started may hold the pipes for longer.
                let give_up = clock::now() + LAST_LINE;
                while !copiers.iter().all(JoinHandle::is_finished) && clock::now() < give_up {
                    thread::sleep(Duration::from_millis(1));
                }
                last.lock().unwrap_or_else(PoisonError::into_inner).clone()
            }
        };
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// Copy lines to stderr, each with a prefix, and keep the last one.
fn copy(pipe: impl Read + Send + 'static, last: Arc<Mutex<String>>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("server-output".into()).spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            let _ = writeln!(io::stderr(), "{PREFIX}{text}");
            if !text.is_empty() {
                *last.lock().unwrap_or_else(PoisonError::into_inner) = text.to_owned();
            }
            line.clear();
        }
    })
}

/// Of a server that nobody but its own end can reach.
fn unreachable(at: SocketAddr, address: IpAddr) -> Failure {
    let any = if address.is_ipv4() { "0.0.0.0" } else { "::" };
    Failure::new(format!("the server listens on {at} only, where the other end cannot reach it"))
        .hint(format!("let it listen on {any} or {address}; {{server}} in its command becomes {address}"))
}

/// How long to wait after a look that took so long.
fn pause(look: Duration) -> Duration {
    (look * LOOKING).clamp(LOOK_EVERY, LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_take_a_hundredth_of_the_time_and_none_is_long_after_the_server_is_ready() {
        let pauses = [0, 50, 1_000, 50_000].map(|micros| pause(Duration::from_micros(micros)).as_millis());
        assert_eq!(pauses, [10, 10, 100, 200]);
    }
}
