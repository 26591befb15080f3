//! Kernel settings of the current network namespace. `/proc/sys` may be read-only (Docker), so every one is tried, then read back.

use std::collections::BTreeMap;
use std::fs;

use crate::{Context, Error};

/// The lowest port of a client, above those of all servers: in a capture of UDP the higher port shows the client.
pub const LOWEST_CLIENT_PORT: u16 = 16_384;
/// Set in every slot. Many new connections need many ports, and ports whose last connection is over.
const SET: [(&str, &str); 3] = [
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_tw_reuse", "1"),
    ("net.ipv4.ip_local_port_range", "16384 65535"),
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

/// What keeps an interface with IPv6 from speaking by itself: no link-local address, no duplicate address detection, no router solicitations.
/// Reports of multicast listeners (RFC 9777) stay; a link carries no multicast.
const QUIET_IPV6: [(&str, &str); 4] =
    [("addr_gen_mode", "1"), ("accept_dad", "0"), ("router_solicitations", "0"), ("accept_ra", "0")];

/// Let interfaces that are made from now on do without IPv6: the link's ends of the veths.
pub(super) fn without_ipv6() {
    write("net.ipv6.conf.default.disable_ipv6", "1");
}

/// Let interfaces that are made from now on say nothing over IPv6 that no process asked for. An interface with an MTU below IPv6's minimum and
/// grows again begins anew with these.
pub(super) fn quiet_ipv6() {
    for (key, value) in QUIET_IPV6 {
        write(&format!("net.ipv6.conf.default.{key}"), value);
    }
}

/// Let the namespace forward packets between its interfaces: IPv4, and IPv6 if available.
pub(super) fn forward() -> Result<(), Error> {
    write("net.ipv6.conf.all.forwarding", "1");
    let key = "net.ipv4.ip_forward";
    if read(key).as_deref() == Some("1") {
        return Ok(());
    }
    fs::write(path(key), "1").context(format!("setting {key}, without which links cannot be nested"))
}

/// Set the kernel settings of a slot.
pub(super) fn set() {
    for (key, value) in SET {
        write(key, value);
    }
}

/// The kernel settings of a slot, and other relevant ones.
pub(super) fn settings(interface: &str) -> BTreeMap<String, String> {
    let keys = SET.iter().map(|(key, _)| *key).chain(READ);
    let mut settings: BTreeMap<_, _> = keys.filter_map(|key| Some((key.to_owned(), read(key)?))).collect();
    let quiet = QUIET_IPV6.iter().filter_map(|(key, _)| {
        Some((format!("interface.ipv6.{key}"), read(&format!("net.ipv6.conf.{interface}.{key}"))?))
    });
    settings.extend(quiet);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_the_ports_from_the_lowest_on() {
        let range = format!("{LOWEST_CLIENT_PORT} {}", u16::MAX);
        assert!(SET.contains(&("net.ipv4.ip_local_port_range", range.as_str())));
    }
}
