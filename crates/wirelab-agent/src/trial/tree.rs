//! Which endpoint each process of a trial's PID namespace belongs to.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};
use wirelab_net::counters::cpu_time;

/// Which endpoint each process of this PID namespace belongs to: the one that it descends from, however its parents ended.
///
/// An endpoint leads a session of its own. A process that has left it (a daemon) is known by its parent, if it was looked at while that was there.
#[derive(Default)]
pub struct Tree {
    /// By process.
    owners: BTreeMap<u32, usize>,
    /// By session, whose number no other process gets while it has members.
    sessions: BTreeMap<u32, usize>,
}

/// A process of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub pid: u32,
    /// Number of the endpoint.
    pub owner: usize,
    /// CPU time of its children that have ended, to the kernel's tick.
    of_children: Duration,
}

impl Tree {
    /// This process is an endpoint.
    pub fn plant(&mut self, pid: u32, owner: usize) {
        self.owners.insert(pid, owner);
        self.sessions.insert(pid, owner);
    }

    /// The endpoint of this process, by earlier samples.
    pub fn known(&self, pid: u32) -> Option<usize> {
        self.owners.get(&pid).copied()
    }

    /// Whose process this is, ended or not; `None` of one that nobody here started.
    pub fn owner(&mut self, pid: u32) -> Option<usize> {
        if let Some(owner) = self.known(pid) {
            return Some(owner);
        }
        let stat = Stat::read(pid)?;
        let owner = *self.sessions.get(&stat.session).or_else(|| self.owners.get(&stat.parent))?;
        self.owners.insert(pid, owner);
        Some(owner)
    }

    /// This process is collected: another may get its number.
    pub fn forget(&mut self, pid: u32) {
        self.owners.remove(&pid);
    }

    /// All processes of endpoints that are there. Parents have lower numbers than their children, until numbers begin anew.
    pub fn look(&mut self) -> Vec<Member> {
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let mut pids: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
        pids.sort_unstable();
        pids.into_iter()
            .filter_map(|pid| Some(Member { pid, owner: self.owner(pid)?, of_children: Stat::read(pid)?.of_children }))
            .collect()
    }

    /// CPU time of an endpoint's processes so far, of what has ended to the kernel's tick.
    pub fn cpu_time(&mut self, owner: usize) -> Duration {
        let members = self.look().into_iter().filter(|member| member.owner == owner);
        members.map(|member| cpu_time(member.pid).unwrap_or_default() + member.of_children).sum()
    }
}

/// Of `/proc/PID/stat` (`proc_pid_stat(5)`).
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    session: u32,
    of_children: Duration,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let hertz = u32::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?, hertz)
    }

    /// `pid (name) state ppid pgrp session …`, of which fields 16 and 17 are `cutime` and `cstime`; a name may have anything in it.
    fn parse(stat: &str, hertz: u32) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u32>().ok();
        let ticks = number(16)? + number(17)?;
        Some(Self { parent: number(4)?, session: number(6)?, of_children: Duration::from_secs(ticks.into()) / hertz })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_says_its_parent_its_session_and_what_its_children_took_whatever_its_name() {
        let stat = "77 (a) b (c) S 5 77 6 0 -1 4194560 1 2 3 4 10 20 150 50 20 0 1 0 99";
        let expected = Stat { parent: 5, session: 6, of_children: Duration::from_secs(2) };
        assert_eq!(Stat::parse(stat, 100), Some(expected));
        assert_eq!(Stat::parse("77 (cut) S 5", 100), None);
    }

    #[test]
    fn a_child_belongs_to_its_parents_endpoint_and_a_stranger_to_none() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let mut tree = Tree::default();
        assert_eq!(tree.owner(child.id()), None);
        tree.plant(std::process::id(), 3);
        assert_eq!(tree.owner(child.id()), Some(3));
        assert!(tree.look().iter().any(|member| (member.pid, member.owner) == (child.id(), 3)));
        assert!(tree.cpu_time(3) > Duration::ZERO);
        child.kill().unwrap();
        assert_eq!(tree.owner(child.id()), Some(3), "also when it has ended");
        child.wait().unwrap();
        tree.forget(child.id());
        assert_eq!(tree.owner(child.id()), None);
    }
}
