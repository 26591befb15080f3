//! `guest`: boots a time-travelling kernel (User-Mode Linux) that runs the commands of a script and powers off. Nobody talks to it meanwhile.
//!
//! It can write in the script's folders and nowhere else. It ends with this process, which ends when its stdin does.

pub mod init;

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use crossbeam_channel::bounded;
use landlock::{ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use wirelab_net::{memory, process, scheduling};

use init::{SCRIPT, Script};

const CONSOLE: &str = "console";
const INIT: &str = "init";
/// How long the kernel's processes may take to end once they are killed.
const END: Duration = Duration::from_secs(10);
/// How long the kernel may take to print its tasks.
const ANSWER: Duration = Duration::from_millis(500);
/// Its management console.
const MANAGEMENT: &str = "uml/guest/mconsole";
const POLL: Duration = Duration::from_millis(2);

#[derive(clap::Args)]
pub struct Arguments {
    /// The kernel.
    #[arg(long, value_name = "FILE")]
    kernel: PathBuf,
    /// Folder with `script.json`; the results are written into it.
    #[arg(long, value_name = "FOLDER")]
    unit: PathBuf,
    /// Folder for the guest's memory, in which programs may be executed.
    #[arg(long, value_name = "FOLDER")]
    memory: PathBuf,
    /// Memory of the guest, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory_mib: u64,
    /// Seed of the kernel's random numbers.
    #[arg(long)]
    seed: u64,
    /// Where the guest's clock begins, in nanoseconds since 1970.
    #[arg(long, value_name = "NS")]
    start_ns: u64,
    /// CPU to run on.
    #[arg(long)]
    cpu: Option<usize>,
    /// End a guest that is not over after so many seconds of this machine's time.
    #[arg(long, value_name = "SECONDS")]
    timeout_s: u64,
}

pub fn run(arguments: Arguments) -> ExitCode {
    process::ignore_terminal();
    match guest(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn guest(arguments: &Arguments) -> anyhow::Result<()> {
    let unit = arguments.unit.canonicalize().with_context(|| arguments.unit.display().to_string())?;
    let script = fs::read(unit.join(SCRIPT)).with_context(|| unit.join(SCRIPT).display().to_string())?;
    let script: Script = serde_json::from_slice(&script).with_context(|| unit.join(SCRIPT).display().to_string())?;
    let _ = fs::remove_file(unit.join(init::RESULT));
    std::os::unix::fs::symlink(std::env::current_exe()?, unit.join(INIT)).context("linking the agent")?;
    let console = File::create(unit.join(CONSOLE)).context("making the console")?;
    // Processes that its kernel leaves behind are ours.
    prctl::set_child_subreaper(true).context("becoming the parent of what the guest leaves behind")?;
    let memory = Memory::new(&arguments.memory)?;
    let (folder, descriptor) = (memory.path(), memory.descriptor());
    // Of a thread of its own, so that this one can remove the folder; its end would be the guest's.
    let confined = || {
        confine(&script, &unit, &folder)?;
        if let Some(cpu) = arguments.cpu {
            ensure!(scheduling::keep_to([cpu]), "CPU {cpu} is not this process's to use");
        }
        let kernel = boot(arguments, &folder, descriptor, &unit, console)?;
        wait(kernel, Duration::from_secs(arguments.timeout_s), &unit)
    };
    thread::scope(|scope| scope.spawn(confined).join()).expect("it does not panic")
}

/// A folder for the guest's memory, which is a file without a name in it; removed with this.
enum Memory {
    Folder(PathBuf),
    /// The root of a file system that is mounted nowhere.
    HugePages(OwnedFd),
}

impl Memory {
    const NAME: &str = "wirelab-guest-";

    /// In memory it has huge pages, where the machine lets this user have them: else a third of a guest's start is page faults.
    fn new(within: &Path) -> anyhow::Result<Self> {
        Self::remove_left(within);
        if memory::is_memory(within)
            && let Ok(root) = memory::huge_pages()
        {
            return Ok(Self::HugePages(root));
        }
        let folder = within.join(format!("{}{}", Self::NAME, std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self::Folder(folder))
    }

    /// As this process sees it, and the kernel that inherits the descriptor.
    fn path(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.clone(),
            Self::HugePages(root) => format!("/proc/self/fd/{}", root.as_raw_fd()).into(),
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Folder(_) => None,
            Self::HugePages(root) => Some(root.as_fd()),
        }
    }

    /// Those of processes that were killed. They are empty.
    fn remove_left(within: &Path) {
        for entry in fs::read_dir(within).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| name.strip_prefix(Self::NAME));
            if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Self::Folder(folder) = self {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Let this thread and the guest write in these folders only. A guest's root can mount any folder of the machine with the user's rights:
/// Landlock holds for every process that the guest consists of. It knows no change of modes and times (`docs/limitations.md`).
fn confine(script: &Script, unit: &Path, memory: &Path) -> anyhow::Result<()> {
    let written = AccessFs::from_write(ABI::V3);
    let folders = script.folders.iter().map(|shared| shared.folder.as_path());
    let none = "this kernel has no Landlock that covers truncation (Linux 6.2), without which a guest could write elsewhere on this machine";
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let mut rules = ruleset.handle_access(written).and_then(Ruleset::create).context(none)?;
    for folder in folders.chain([unit, memory]) {
        let opened = PathFd::new(folder).with_context(|| folder.display().to_string())?;
        rules = rules.add_rule(PathBeneath::new(opened, written))?;
    }
    let null = PathFd::new("/dev/null")?;
    rules = rules.add_rule(PathBeneath::new(null, AccessFs::WriteFile))?;
    rules.restrict_self().context(none)?;
    Ok(())
}

fn boot(
    arguments: &Arguments,
    memory: &Path,
    inherited: Option<BorrowedFd<'_>>,
    unit: &Path,
    console: File,
) -> anyhow::Result<Child> {
    let mut command = Command::new(&arguments.kernel);
    // The kernel seeds its generator from these words: no path of a campaign is among them.
    command.args([
        &format!("mem={}M", arguments.memory_mib),
        // Else the kernel puts these last, and gives them to its first process.
        "root=98:0",
        "console=tty0",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "quiet",
        "con=null",
        "con0=fd:0,fd:1",
        "uml_dir=uml/",
        "umid=guest",
        "seccomp=auto",
        "time-travel=inf-cpu",
        &format!("time-travel-start={}", arguments.start_ns),
        &format!("rngseed={}", arguments.seed),
        // Random addresses use up random numbers, more of them for some builds of a program than for others.
        "norandmaps",
        &format!("init=/proc/self/cwd/{INIT}"),
        "--",
        "guest-init",
    ]);
    command.env_clear().env("TMPDIR", memory).env("HOME", unit).env("PATH", "/usr/bin:/bin");
    command.current_dir(unit).process_group(0);
    command.stdin(Stdio::null()).stderr(console.try_clone()?).stdout(console);
    let inherited = inherited.into_iter().collect();
    process::spawn(&mut command, &process::Confinement { inherited, ..process::Confinement::default() })
        .with_context(|| format!("starting {}", arguments.kernel.display()))
}

/// What ends the waiting.
enum Event {
    KernelEnded,
    CallerEnded,
}

/// Until the kernel ends, the caller does, or the time-out; then nothing of the guest is left.
fn wait(kernel: Child, timeout: Duration, unit: &Path) -> anyhow::Result<()> {
    let (events, heard) = bounded(2);
    let caller = events.clone();
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = caller.send(Event::CallerEnded);
    });
    let id = Pid::from_raw(kernel.id() as i32);
    thread::spawn(move || {
        // Left as it is, for its group's number must not be another's yet.
        let _ = waitid(Id::Pid(id), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
        let _ = events.send(Event::KernelEnded);
    });
    let event = heard.recv_timeout(timeout);
    let state = if event.is_err() { state(unit) } else { String::new() };
    end_all(id)?;
    match event {
        Ok(Event::KernelEnded) if unit.join(init::RESULT).exists() => Ok(()),
        Ok(Event::KernelEnded) => bail!("the guest ended before its script{}", last_words(unit)),
        Ok(Event::CallerEnded) => bail!("the process that started the guest ended, and so the guest did"),
        Err(_) => {
            bail!("the guest was not over after {} s and was ended{state}", timeout.as_secs())
        }
    }
}

/// What the guest was doing: its clock went on, or a program that never waits kept it from that. The guest's kernel is asked for its tasks twice,
/// which it prints on the console (`sysrq t` of its management console, Documentation/virt/uml in Linux).
fn state(unit: &Path) -> String {
    let console = || String::from_utf8_lossy(&fs::read(unit.join(CONSOLE)).unwrap_or_default()).into_owned();
    let Ok(socket) = UnixDatagram::unbound() else { return String::new() };
    let mut places = Vec::new();
    // First everything that it says shall come to the console.
    for words in ["sysrq 8", "sysrq t", "sysrq t"] {
        places.push(console().len());
        if socket.send_to(&request(words), unit.join(MANAGEMENT)).is_err() {
            return String::new();
        }
        thread::sleep(ANSWER);
    }
    let text = console();
    let said = |from: usize| text.get(from..).unwrap_or_default();
    match (stamp(said(places[1])), stamp(said(places[2]))) {
        (Some(first), Some(second)) if first != second => format!("; its clock was at {second} s, and went on"),
        _ => running_task(said(places[1]))
            .map_or_else(String::new, |name| format!("; {name} does not let its clock go on")),
    }
}

/// The first time that stands on a console, in seconds since the boot: `[    1.234567] …`.
fn stamp(console: &str) -> Option<&str> {
    console.lines().find_map(|line| Some(line.strip_prefix('[')?.split_once(']')?.0.trim()))
}

/// `struct mconsole_request` of arch/um/drivers/mconsole.h in Linux.
fn request(words: &str) -> Vec<u8> {
    const MAGIC: u32 = 0xcafe_babe;
    const VERSION: u32 = 2;
    const TEXT: usize = 512;
    let mut bytes: Vec<u8> = [MAGIC, VERSION, words.len() as u32].into_iter().flat_map(u32::to_ne_bytes).collect();
    bytes.extend_from_slice(words.as_bytes());
    bytes.resize(12 + TEXT, 0);
    bytes
}

/// The name of the last task that runs and is not the kernel's own, or our first process: `task:NAME state:R … pid:25 … ppid:1 …`.
fn running_task(console: &str) -> Option<String> {
    let field =
        |line: &str, name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name).map(str::to_owned));
    let running = console.lines().filter(|line| line.contains("state:R"));
    // The parent of the kernel's threads is 2, and that of the first process 0.
    let ours = running.filter(|line| !matches!(field(line, "ppid:").as_deref(), Some("0" | "2")));
    ours.filter_map(|line| field(line, "task:")).next_back()
}

/// End the kernel and the processes in which the guest's run.
fn end_all(kernel: Pid) -> anyhow::Result<()> {
    let give_up = Instant::now() + END;
    let _ = killpg(kernel, Signal::SIGKILL);
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG | WaitPidFlag::__WALL)) {
            Err(Errno::ECHILD) => return Ok(()),
            Ok(WaitStatus::StillAlive) => {
                for child in children() {
                    let _ = kill(child, Signal::SIGKILL);
                }
                ensure!(Instant::now() < give_up, "processes of the guest do not end, although they were killed");
                thread::sleep(POLL);
            }
            _ => {}
        }
    }
}

/// Processes whose parent this one is, by its threads.
fn children() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let text: Vec<_> = threads.map(of_thread).collect();
    text.iter().flat_map(|ids| ids.split_whitespace()).filter_map(|id| id.parse().ok()).map(Pid::from_raw).collect()
}

/// The end of the console.
fn last_words(unit: &Path) -> String {
    let console = fs::read(unit.join(CONSOLE)).unwrap_or_default();
    let text = String::from_utf8_lossy(&console);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(2)..].join(" | ");
    if last.is_empty() { String::new() } else { format!("; its console: {last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_that_runs_is_named_and_the_idle_one_is_not() {
        let console = "[    1.0] task:init            state:S stack:0     pid:1\n\
            [    1.0] task:init            state:R  running task     pid:1     ppid:0\n\
            [    1.0] task:spinner         state:R  running task     pid:57    ppid:1\n\
            [    1.0] task:ksoftirqd/0     state:R  running task     pid:10    ppid:2\n";
        assert_eq!(running_task(console).as_deref(), Some("spinner"));
        assert_eq!(running_task("task:init state:S"), None);
    }

    #[test]
    fn the_first_time_on_a_console_is_read() {
        assert_eq!(stamp("no time\n[    1.234567] sysrq: Show State\n[    1.3] task"), Some("1.234567"));
        assert_eq!(stamp("nothing"), None);
    }

    #[test]
    fn a_request_to_the_management_console_has_its_length() {
        let bytes = request("sysrq t");
        assert_eq!(bytes.len(), 524);
        assert_eq!(bytes[8..12], 7_u32.to_ne_bytes());
        assert_eq!(&bytes[12..19], b"sysrq t");
    }
}
