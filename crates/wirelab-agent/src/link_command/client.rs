//! The command behind a link: it is started, watched and ended. It knows nothing of the link itself.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use wirelab_net::clock;
use wirelab_net::link::Instant;
use wirelab_net::pid_namespace::{Group, PidNamespace, Place};
use wirelab_net::topology::SingleLink;

use super::failure::{Failure, NOT_EXECUTABLE, NOT_FOUND, SIGNALLED};
use super::server::Server;
use super::signals::{Received, Signals};
use super::terminal::Terminal;
use super::{Addresses, CLIENT, GRACE, SERVER};
use crate::trial;

const SHELL: &str = "/bin/sh";
/// How often a server is checked whose end was not signalled: another process may have collected its signal.
const GLANCE: Duration = Duration::from_secs(1);

/// The command behind the link.
pub struct Client {
    pid: Pid,
    terminal: Option<Terminal>,
}

impl Client {
    /// Start `words`, or the user's shell if there are none, with everything that this process has.
    pub fn start(
        family: &PidNamespace,
        ends: &SingleLink,
        words: &[OsString],
        addresses: Addresses,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let shell = [std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| SHELL.into())];
        let command = command(if words.is_empty() { &shell } else { words }, addresses)?;
        let terminal = Terminal::find();
        let group = terminal.as_ref().map_or(Group::Callers, |terminal| Group::Foreground(terminal.as_fd()));
        let place = Place { network: ends.near().as_fd(), group, blocked: signals.before() };
        let child = family.spawn(command, &place);
        if child.is_err()
            && let Some(terminal) = &terminal
        {
            terminal.reclaim();
        }
        let child = child.map_err(|error| not_started(words.first().unwrap_or(&shell[0]), &error))?;
        Ok(Self { pid: Pid::from_raw(child.id() as i32), terminal })
    }

    /// Wait until it ends; returns its exit code as a shell has it.
    pub fn wait(self, signals: &Signals, server: &mut Option<Server>) -> u8 {
        let mut give_up: Option<Instant> = None;
        let code = loop {
            match waitpid(self.pid, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED)) {
                Ok(WaitStatus::Exited(_, code)) => break code as u8,
                Ok(WaitStatus::Signaled(_, signal, _)) => break SIGNALLED + signal as u8,
                Ok(WaitStatus::Stopped(_, signal)) => {
                    if !self.wants_the_terminal(signal) {
                        signals.stop_ourselves();
                    }
                    self.resume();
                }
                Ok(_) => {}
                Err(_) => break SIGNALLED + Signal::SIGKILL as u8,
            }
            if let Some(server) = server {
                server.warn_if_ended();
            }
            if give_up.is_some_and(|give_up| give_up <= clock::now()) {
                self.send(Signal::SIGKILL);
            }
            let left = give_up.map_or(GLANCE, |give_up| give_up.saturating_since(clock::now()).min(GLANCE));
            let Some(received) = signals.wait(Some(left)) else { continue };
            if matches!(received.signal, Signal::SIGTERM | Signal::SIGHUP) {
                give_up.get_or_insert(clock::now() + GRACE);
            }
            self.pass_on(received);
        };
        if let Some(terminal) = &self.terminal {
            terminal.take_from(self.pid);
        }
        code
    }

    fn pass_on(&self, received: Received) {
        match (received.signal, &self.terminal) {
            (Signal::SIGCONT, _) => self.resume(),
            // The terminal sent it to the command as well.
            (_, None) if received.from_terminal => {}
            // A shell brought us back to the foreground, which it does not tell.
            (Signal::SIGINT | Signal::SIGQUIT | Signal::SIGTSTP, Some(terminal)) if received.from_terminal => {
                terminal.give(self.pid);
                self.send(received.signal);
            }
            _ if received.ends() => self.send(received.signal),
            _ => {}
        }
    }

    /// It was stopped for using the terminal in the background, and a shell has brought us to the foreground meanwhile.
    fn wants_the_terminal(&self, signal: Signal) -> bool {
        matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU) && self.terminal.as_ref().is_some_and(Terminal::is_ours)
    }

    fn resume(&self) {
        if let Some(terminal) = &self.terminal {
            terminal.give(self.pid);
        }
        self.send(Signal::SIGCONT);
    }

    fn send(&self, signal: Signal) {
        // It fails if the command has just ended.
        let _ = if self.terminal.is_some() { killpg(self.pid, signal) } else { kill(self.pid, signal) };
    }
}

/// A command of these words, in which `{server}` and `{client}` are addresses.
pub fn command(words: &[OsString], addresses: Addresses) -> Result<Command, Failure> {
    let (client, server) = (addresses.client.to_string(), addresses.server.to_string());
    let fill = |word: &OsString| match word.to_str() {
        Some(text) => text.replace("{server}", &server).replace("{client}", &client).into(),
        None => word.clone(),
    };
    let words: Vec<OsString> = words.iter().map(fill).collect();
    let (program, arguments) = words.split_first().ok_or_else(|| Failure::new("the command is empty"))?;
    let mut command = Command::new(find(program)?);
    command.arg0(program).args(arguments).env(SERVER, server).env(CLIENT, client);
    Ok(command)
}

/// Why a program could not be started, with the code that shells have for it.
pub fn not_started(program: &OsStr, error: &io::Error) -> Failure {
    let program = program.display();
    match error.kind() {
        io::ErrorKind::NotFound => Failure::new(format!("{program}: command not found")).code(NOT_FOUND),
        _ => Failure::new(format!("{program}: cannot be started: {error}")).code(NOT_EXECUTABLE),
    }
}

fn find(program: &OsStr) -> Result<std::path::PathBuf, Failure> {
    let path = std::env::var("PATH").unwrap_or_else(|_| trial::DEFAULT_PATH.into());
    match program.to_str() {
        Some(name) => trial::find(name, &path).map_err(|error| not_started(program, &error)),
        None => Ok(program.into()),
    }
}
