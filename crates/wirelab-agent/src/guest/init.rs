//! The first process of a guest: mounts what programs expect, runs the commands of a script one after the other, and powers off.
//!
//! The guest sees the machine's files read-only; what it writes outside the script's folders is in its memory, and gone with it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::Context;
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::unistd::sync;
use serde::{Deserialize, Serialize};
use wirelab_net::process;

/// Of the folder in which the kernel was started. Its path is not on the kernel's command line, from which the kernel seeds its generator.
const UNIT: &str = "/proc/self/cwd";
/// Where the guest sees that folder.
const HERE: &str = "/run/wirelab/unit";
pub const SCRIPT: &str = "script.json";
pub const RESULT: &str = "result.json";

/// What a guest does.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Folders of the machine in which it may write.
    pub folders: Vec<Shared>,
    /// In this order.
    pub commands: Vec<Step>,
}

/// A folder of the machine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    pub folder: PathBuf,
    /// Where the guest has it.
    pub at: PathBuf,
}

/// A command, and where its output goes; paths are the guest's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub command: Vec<String>,
    pub directory: PathBuf,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    pub stdin: Option<PathBuf>,
    pub stdout: PathBuf,
    pub stderr: PathBuf,
}

/// How the commands ended.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Of each command that ran.
    pub commands: Vec<StepEnded>,
    /// Why the guest ran no further command.
    pub error: Option<String>,
    /// How long the guest was up, by its own clock.
    pub uptime_ns: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct StepEnded {
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
}

#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(_arguments: Arguments) -> ExitCode {
    if std::process::id() != 1 {
        eprintln!("wirelab-agent guest-init: only a guest's kernel starts this");
        return ExitCode::FAILURE;
    }
    if let Err(error) = serve() {
        // The console is a file of the unit.
        println!("wirelab-agent guest-init: {error:#}");
    }
    sync();
    // It returns only if it failed, and then the kernel says that its first process has ended.
    let _ = reboot(RebootMode::RB_POWER_OFF);
    ExitCode::FAILURE
}

fn serve() -> anyhow::Result<()> {
    let unit = fs::read_link(UNIT).context("looking for the script")?;
    let script = fs::read(unit.join(SCRIPT)).context("reading the script")?;
    let script: Script = serde_json::from_slice(&script).context("reading the script")?;
    mount_all()?;
    share(&Shared { folder: unit, at: HERE.into() })?;
    let mut ended = Ended { commands: Vec::new(), error: None, uptime_ns: 0 };
    if let Err(error) = work(&script, &mut ended.commands) {
        ended.error = Some(format!("{error:#}"));
    }
    ended.uptime_ns = wirelab_net::clock::now().as_nanos();
    let path = Path::new(HERE).join(RESULT);
    fs::write(&path, serde_json::to_vec(&ended)?).with_context(|| path.display().to_string())
}

fn work(script: &Script, ended: &mut Vec<StepEnded>) -> anyhow::Result<()> {
    script.folders.iter().try_for_each(share)?;
    let _ = process::raise_open_files();
    for step in &script.commands {
        let status = perform(step).with_context(|| step.command.join(" "))?;
        ended.push(StepEnded { exit_code: status.code(), signal: status.signal() });
    }
    Ok(())
}

/// What programs expect of a machine. The root is the machine's, read-only.
fn mount_all() -> anyhow::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mounted("proc", "/proc", flags, None)?;
    mounted("sysfs", "/sys", flags, None)?;
    mounted("devtmpfs", "/dev", MsFlags::MS_NOSUID, None)?;
    for folder in ["/dev/pts", "/dev/shm"] {
        fs::create_dir_all(folder).with_context(|| folder.to_owned())?;
    }
    mounted("devpts", "/dev/pts", MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC, None)?;
    mounted("tmpfs", "/dev/shm", MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some("mode=1777"))?;
    for (name, target) in [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
        let path = Path::new("/dev").join(name);
        std::os::unix::fs::symlink(target, &path).with_context(|| path.display().to_string())?;
    }
    mounted("tmpfs", "/run", MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some("mode=755"))?;
    // Programs write there, and the machine's files stay visible: a user's own program may be among them.
    overlaid("/tmp")
}

fn mounted(kind: &str, at: &str, flags: MsFlags, data: Option<&str>) -> anyhow::Result<()> {
    mount(Some(kind), at, Some(kind), flags, data).with_context(|| format!("mounting {kind} on {at}"))
}

/// Cover a folder by one in the guest's memory, through which it shows.
fn overlaid(folder: &str) -> anyhow::Result<()> {
    let above = Path::new("/run/wirelab/above").join(folder.trim_start_matches('/'));
    let (upper, work) = (above.join("upper"), above.join("work"));
    for each in [&upper, &work] {
        fs::create_dir_all(each).with_context(|| each.display().to_string())?;
    }
    let data = format!("lowerdir={folder},upperdir={},workdir={}", upper.display(), work.display());
    mounted("overlay", folder, MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some(&data))
}

fn share(Shared { folder, at }: &Shared) -> anyhow::Result<()> {
    fs::create_dir_all(at).with_context(|| at.display().to_string())?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("none"), at, Some("hostfs"), flags, Some(folder))
        .with_context(|| format!("mounting {} on {}", folder.display(), at.display()))?;
    share_program(folder, at)
}

/// If this program lies in the folder, let it be the same file there: else its pages are read twice.
fn share_program(folder: &Path, at: &Path) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("looking for this program")?;
    let Ok(within) = program.strip_prefix(folder) else { return Ok(()) };
    let there = at.join(within);
    mount(Some(&program), &there, None::<&str>, MsFlags::MS_BIND, None::<&str>)
        .with_context(|| format!("mounting {} on {}", program.display(), there.display()))
}

fn perform(step: &Step) -> anyhow::Result<ExitStatus> {
    let (program, arguments) = step.command.split_first().context("an empty command")?;
    let open = |path: &Path| File::open(path).with_context(|| path.display().to_string());
    let create = |path: &Path| File::create(path).with_context(|| path.display().to_string());
    let stdin = step.stdin.as_deref().map(open).transpose()?.map_or_else(Stdio::null, Stdio::from);
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(&step.environment).current_dir(&step.directory);
    command.stdin(stdin).stdout(create(&step.stdout)?).stderr(create(&step.stderr)?);
    command.status().context("starting it")
}
