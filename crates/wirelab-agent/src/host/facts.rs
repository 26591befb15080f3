//! Facts about the machine for the campaign's record. It judges none of them.

use std::fs;

use nix::sys::utsname::uname;
use wirelab_net::counters::{Counter, Event};
use wirelab_net::{destroy_sockets, scheduling};
use wirelab_schema::HostFacts;

use super::slots::Slots;
use crate::slot_shape;

/// The machine as the campaign finds it.
pub fn collect(rootless: bool, slots: &Slots) -> Result<HostFacts, wirelab_net::Error> {
    let link_cpu = slots.link().cpu().map(|cpu| cpu as u32);
    let mut settings = slots.topology().settings()?;
    let mut add = |key: &str, value: String| settings.insert(key.into(), value);
    add("link.memory_locked", slots.link().memory_locked().to_string());
    add("link.cpus_awake", slots.link().cpus_awake().to_string());
    if let Some(own_proc) = slots.own_proc() {
        add("trial.own_proc", own_proc.to_string());
    }
    add("clocksource", clock_source());
    let counted = Counter::of(Event::Instructions, std::process::id());
    add("trial.instructions", counted.map_or_else(|error| format!("none: {error}"), |_| "counted".into()));
    if let Some(quotas) = slots.cpu_quotas() {
        add(
            "trial.cpu_quota",
            quotas.map_or_else(|error| format!("none: {error}"), |quotas| quotas.version().to_string()),
        );
    }
    let ipv6 = slots.topology().ipv6().is_ok();
    let [(_, namespace), ..] = slots.slot(0).hosts().collect::<Vec<_>>()[..] else { unreachable!("a slot has hosts") };
    let destroyed = namespace.run(destroy_sockets);
    add("trial.leftover_sockets", destroyed.map_or_else(|error| format!("kept: {error}"), |_| "destroyed".into()));
    Ok(HostFacts {
        kernel: uname().map(|name| name.release().to_string_lossy().into_owned()).unwrap_or_default(),
        cpu: cpu(),
        cpus: slots.link().cpus(),
        memory_bytes: memory_bytes(),
        rootless,
        link_scheduling: slots.link().scheduling().to_owned(),
        link_cpu,
        settings,
        links: slot_shape::addresses(slots.topology().shape(), ipv6),
    })
}

/// How many CPUs this thread may use.
pub fn cpus() -> u32 {
    scheduling::cpus().len() as u32
}

/// Bytes of memory.
pub fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The kernel's clock source.
pub fn clock_source() -> String {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    fs::read_to_string(path).map_or_else(|_| "unknown".into(), |text| text.trim().to_owned())
}

fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    // ARM's cpuinfo has no model name.
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.into(), |(_, model)| model.trim().to_owned())
}
