//! Kernel settings of the current network namespace. `/proc/sys` may be read-only (Docker), so every one is tried, then read back.

use std::collections::BTreeMap;
use std::fs;

use crate::{Context, Error};

/// Set in every lane. Many fresh connections need many ports, and ports whose last connection is over.
const SET: [(&str, &str); 3] = [
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_tw_reuse", "1"),
    ("net.ipv4.ip_local_port_range", "10000 65535"),
];

/// Left alone and recorded.
const READ: [&str; 13] = [
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_reordering",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.core.somaxconn",
];

/// Let interfaces that are made from now on do without IPv6.
pub(super) fn silence_ipv6() {
    write("net.ipv6.conf.default.disable_ipv6", "1");
}

/// Let the namespace forward packets between its interfaces.
pub(super) fn forward() -> Result<(), Error> {
    let key = "net.ipv4.ip_forward";
    if read(key).as_deref() == Some("1") {
        return Ok(());
    }
    fs::write(path(key), "1").context(format!("setting {key}, without which links cannot be nested"))
}

/// Set what a lane needs; returns it and what else matters as the kernel has it.
pub(super) fn set_and_read(interface: &str) -> BTreeMap<String, String> {
    for (key, value) in SET {
        write(key, value);
    }
    let ipv6 = format!("net.ipv6.conf.{interface}.disable_ipv6");
    write(&ipv6, "1");
    let keys = SET.iter().map(|(key, _)| *key).chain(READ);
    let mut settings: BTreeMap<_, _> = keys.filter_map(|key| Some((key.to_owned(), read(key)?))).collect();
    settings.insert("interface.disable_ipv6".into(), read(&ipv6).unwrap_or_else(|| "1 (kernel without IPv6)".into()));
    settings
}

fn read(key: &str) -> Option<String> {
    let text = fs::read_to_string(path(key)).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn write(key: &str, value: &str) {
    let _ = fs::write(path(key), value);
}

fn path(key: &str) -> String {
    format!("/proc/sys/{}", key.replace('.', "/"))
}
