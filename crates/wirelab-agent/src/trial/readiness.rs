use std::fs;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use wirelab_schema::{EndpointEvent, ReadyCondition};

const CONNECT: Duration = Duration::from_millis(200);

/// How long a process may take to become ready.
pub fn timeout(condition: &ReadyCondition) -> Duration {
    let (ReadyCondition::Event { timeout_ns }
    | ReadyCondition::TcpConnect { timeout_ns, .. }
    | ReadyCondition::UdpBound { timeout_ns, .. }) = condition;
    Duration::from_nanos(*timeout_ns)
}

/// True if `condition` holds. This process must be in the network namespace of the endpoint, whose host has these addresses.
pub fn is_met(condition: &ReadyCondition, stdout: &Path, addresses: &[IpAddr]) -> bool {
    match condition {
        ReadyCondition::Event { .. } => says_ready(&fs::read(stdout).unwrap_or_default()),
        ReadyCondition::TcpConnect { port, .. } => {
            let accepts = |address| TcpStream::connect_timeout(&SocketAddr::new(address, *port), CONNECT).is_ok();
            addresses.iter().copied().any(accepts)
        }
        ReadyCondition::UdpBound { port, .. } => ["/proc/self/net/udp", "/proc/self/net/udp6"]
            .iter()
            .any(|table| lists_port(&fs::read_to_string(table).unwrap_or_default(), *port)),
    }
}

/// What was waited for, in words.
pub fn describe(condition: &ReadyCondition) -> String {
    match condition {
        ReadyCondition::Event { .. } => "a ready event on stdout".into(),
        ReadyCondition::TcpConnect { port, .. } => format!("TCP port {port} to accept"),
        ReadyCondition::UdpBound { port, .. } => format!("UDP port {port} to be bound"),
    }
}

fn says_ready(stdout: &[u8]) -> bool {
    let whole_lines = stdout.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    whole_lines.map(serde_json::from_slice::<EndpointEvent>).any(|event| event.is_ok())
}

/// `local_address` is the second column of `/proc/net/udp`: hexadecimal address, colon, hexadecimal port.
fn lists_port(table: &str, port: u16) -> bool {
    let suffix = format!(":{port:04X}");
    table.lines().skip(1).any(|line| line.split_whitespace().nth(1).is_some_and(|local| local.ends_with(&suffix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ready_event_counts_once_its_line_is_whole() {
        assert!(!says_ready(b"{\"event\": \"ready\", \"ports\": {\"main\": 8443}}"));
        assert!(says_ready(b"starting\n{\"event\": \"ready\", \"ports\": {\"main\": 8443}}\n"));
        assert!(!says_ready(b"ready\n"));
    }

    #[test]
    fn a_bound_port_is_found_among_others() {
        let table = "   sl  local_address rem_address   st\n  462: 0200004D:20FB 00000000:0000 07\n";
        assert!(lists_port(table, 8443));
        assert!(!lists_port(table, 443));
    }
}
