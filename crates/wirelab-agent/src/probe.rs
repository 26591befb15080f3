//! Tests what a campaign needs from this machine, and names the fix for each failure. JSON on stdout: a list of checks.

mod cure;
mod machine;

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use wirelab_net::awake::AwakeCpus;
use wirelab_net::namespace::{self, NetNamespace};
use wirelab_net::scheduling::Scheduling;
use wirelab_net::topology::{self, Addresses, IPV4, IPV6, Shape, Sides, Topology};
use wirelab_net::{clock, process};

use crate::host::run_trial::rehearse;
use crate::host::slots::{self, NETEM_CURE, NO_NETEM};
use cure::Surroundings;

const MTU: u32 = 1500;
const PATIENCE: Duration = Duration::from_secs(1);
const CPU_QUOTA_CURE: &str =
    "start it in a group of its own, `systemd-run --user --scope --property=Delegate=yes wirelab ...`, or as root";
const IPV6_CURE: &str = "`sudo sysctl net.ipv6.conf.all.disable_ipv6=0`, or boot without `ipv6.disable=1`";

#[derive(clap::Args)]
pub struct Arguments {}

/// One thing that was tried.
#[derive(Debug, Serialize)]
pub struct Check {
    name: &'static str,
    ok: bool,
    /// Only some experiments need it.
    optional: bool,
    detail: String,
    /// What to do about it; null if nothing needs to be done.
    cure: Option<String>,
}

pub fn run(_arguments: Arguments) -> ExitCode {
    let surroundings = Surroundings::detect();
    let mut checks = kernel_checks(&surroundings);
    checks.extend(machine::checks());
    println!("{}", serde_json::to_string_pretty(&checks).expect("checks are JSON"));
    if checks.iter().all(|check| check.ok || check.optional) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What to do when this machine lets nobody make namespaces.
pub fn cure() -> String {
    Surroundings::detect().cure()
}

impl Check {
    fn passed(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: true, optional: false, detail: detail.into(), cure: None }
    }

    fn failed(name: &'static str, detail: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { name, ok: false, optional: false, detail: detail.into(), cure: Some(cure.into()) }
    }

    fn of(name: &'static str, result: Result<String, String>, cure: impl Into<String>) -> Self {
        match result {
            Ok(detail) => Self::passed(name, detail),
            Err(detail) => Self::failed(name, detail, cure),
        }
    }
}

/// In the order in which a campaign needs them; what depends on a failed one is not tried.
fn kernel_checks(surroundings: &Surroundings) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut keep = |check: Check| {
        let ok = check.ok;
        checks.push(check);
        ok
    };
    // First, for it must happen before any thread exists.
    let gained = namespace::gain_namespaces().map(|rootless| match rootless {
        true => "made one and became root in it".to_owned(),
        false => "not needed: this user may already make network namespaces".to_owned(),
    });
    let scheduling = thread::spawn(Scheduling::best).join().unwrap_or(Scheduling::Default);
    keep(scheduling_check(scheduling));
    keep(awake_check());
    let cure = surroundings.cure();
    if keep(Check::of("user-namespace", gained.map_err(|error| error.to_string()), &cure))
        && keep(Check::of("network-namespace", text(NetNamespace::create().map(|_| "made one")), &cure))
        && keep(Check::of("pid-namespace", rehearsal(), &cure))
    {
        match Topology::create(Shape::default(), 1, MTU, false) {
            Ok(topology) => {
                keep(Check::passed("veth", "made two veths with addresses, neighbours and routes"));
                keep(Check::of("af-packet", stamp(&topology, IPV4), &cure));
                match topology.settings() {
                    Ok(settings) => keep(settings_check(&settings, &cure)),
                    Err(error) => keep(Check::failed("settings", error.to_string(), &cure)),
                };
                let pinned = topology.slots()[0].set_addresses(0, topology::ipv4, Some("cubic"));
                let modprobe = "`sudo modprobe tcp_cubic`, or name another congestion control in the experiment";
                keep(Check::of("congestion-control", text(pinned.map(|()| "cubic can be pinned by route")), modprobe));
                keep(Check { optional: true, ..Check::of("ipv6", ipv6(&topology), IPV6_CURE) });
                keep(Check { optional: true, ..Check::of("netem", netem(), NETEM_CURE) });
                keep(Check { optional: true, ..Check::of("cpu-quota", cpu_quota(), CPU_QUOTA_CURE) });
            }
            Err(error) => {
                keep(Check::failed("veth", error.to_string(), surroundings.cure_for_veth()));
            }
        }
    }
    checks
}

fn scheduling_check(scheduling: Scheduling) -> Check {
    let detail = match scheduling {
        Scheduling::Fifo => "the link has priority, also on a busy machine",
        Scheduling::Slice => {
            "a 100 us slice of the fair scheduler, and a CPU of its own if there are two; other programs there can delay it by milliseconds"
        }
        Scheduling::Default => {
            "the fair scheduler of Linux before 6.12, and a CPU of its own if there are two; each report says how late the link was"
        }
    };
    Check::passed("scheduling", format!("{scheduling}: {detail}"))
}

fn awake_check() -> Check {
    let detail = match AwakeCpus::hold() {
        Ok(_) => "kept from sleeping while there are links, so that links wake without delay".to_owned(),
        Err(error) => format!("may sleep, so a link wakes some microseconds later: {error}"),
    };
    Check::passed("idle-cpus", detail)
}

/// Links with `backend = "netem"` need it, and nothing else does.
fn netem() -> Result<String, String> {
    match NetNamespace::create().and_then(|namespace| namespace.run(topology::try_netem)) {
        Ok(()) => Ok("links with `backend = \"netem\"` can run".into()),
        Err(error) => Err(format!("links with `backend = \"netem\"` cannot be run: {NO_NETEM} ({error})")),
    }
}

/// Slower endpoints need it, and nothing else does.
fn cpu_quota() -> Result<String, String> {
    match slots::cpu_quotas() {
        Ok(quotas) => Ok(format!("endpoints with `cpu = \"10 %\"` can run, by {}", quotas.version())),
        Err(error) => Err(format!("endpoints with `cpu = \"10 %\"` cannot be run: {error}")),
    }
}

/// Whether the kernel can be kept from passing state of a trial to the next one in the same slot.
fn settings_check(settings: &BTreeMap<String, String>, cure: &str) -> Check {
    let key = "net.ipv4.tcp_no_metrics_save";
    let result = match settings.get(key).map_or("absent", String::as_str) {
        "1" => Ok("can be set in a namespace".into()),
        value => Err(format!(
            "/proc/sys is read-only: {key} stays {value}, so TCP remembers one connection's path for the next"
        )),
    };
    Check::of("kernel-settings", result, cure)
}

/// A trial process with nothing to do.
fn rehearsal() -> Result<String, String> {
    match rehearse() {
        Ok(true) => Ok("made one with a /proc of its own".into()),
        Ok(false) => Ok("made one; it sees the machine's /proc, since this container forbids another".into()),
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Send a packet between IPv6 addresses.
fn ipv6(topology: &Topology) -> Result<String, String> {
    let slot = &topology.slots()[0];
    let lacks = |error: &dyn std::fmt::Display| format!("links with `family = \"ipv6\"` cannot be run: {error}");
    topology.ipv6().map_err(|error| lacks(error))?;
    slot.set_addresses(0, topology::ipv6, None).map_err(|error| lacks(&error))?;
    stamp(topology, IPV6).map_err(|error| lacks(&error))
}

/// Send a packet from the client and see it in the link's namespace, stamped by the kernel.
fn stamp(topology: &Topology, addresses: Addresses) -> Result<String, String> {
    let client = topology.slots()[0].host("client").expect("a slot of the usual shape has one");
    let received = topology.link().run(|| {
        let mut port = topology::open_ports(0, 0, Sides::PAIR, MTU, false)?.sockets.swap_remove(0);
        let sent_ns = clock::realtime_ns();
        client.run(|| {
            // A packet that cannot be sent is not received, which is reported below.
            let _ = UdpSocket::bind((addresses.client, 0))
                .and_then(|socket| socket.send_to(b"wirelab", (addresses.server, 9)));
            Ok(())
        })?;
        let give_up = clock::now() + PATIENCE;
        while clock::now() < give_up {
            // The kernel's own multicast, which no link carries, may come before it.
            match port.peek().map(|frame| (frame.is_unicast_ip(), frame.stamp_ns)) {
                Some((true, stamp_ns)) => return Ok(Some((sent_ns..=clock::realtime_ns()).contains(&stamp_ns))),
                Some((false, _)) => port.release(),
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
        Ok(None)
    });
    match received.map_err(|error| error.to_string())? {
        Some(true) => Ok("a packet arrived with the kernel's stamp".into()),
        Some(false) => Err("the kernel's stamp of a packet does not lie between its sending and its receipt".into()),
        None => Err("a packet sent through a veth did not arrive".into()),
    }
}

fn text<T: Into<String>>(result: Result<T, wirelab_net::Error>) -> Result<String, String> {
    result.map(Into::into).map_err(|error| error.to_string())
}

/// The effective capabilities of this process, which show the rights of a container.
fn capabilities() -> String {
    process::status_field("CapEff").unwrap_or_else(|| "unknown".into())
}
