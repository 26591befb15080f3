//! When an endpoint is ready: by its event, or by a port that listens.

use std::fs::{self, File};
use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use wirelab_schema::{EndpointEvent, ReadyCondition};

const CONNECT: Duration = Duration::from_millis(200);
/// Of a foreign program's stdout, which may be long, the event is in the first bytes.
const HEAD_BYTES: u64 = 1 << 16;

/// How long a process may take to become ready.
pub fn timeout(condition: &ReadyCondition) -> Duration {
    let (ReadyCondition::Event { timeout_ns }
    | ReadyCondition::TcpConnect { timeout_ns, .. }
    | ReadyCondition::UdpBound { timeout_ns, .. }) = condition;
    Duration::from_nanos(*timeout_ns)
}

/// True if `condition` holds. This process must be in the network namespace of the endpoint, whose host has these addresses. Of `stdout` only what
/// follows the first `skipped` bytes counts: a process before it wrote these.
pub fn is_met(condition: &ReadyCondition, stdout: &Path, skipped: u64, addresses: &[IpAddr]) -> bool {
    match condition {
        ReadyCondition::Event { .. } => {
            let text = fs::read(stdout).unwrap_or_default();
            says_ready(text.get(skipped as usize..).unwrap_or_default())
        }
        ReadyCondition::TcpConnect { port, .. } => {
            let accepts = |address| TcpStream::connect_timeout(&SocketAddr::new(address, *port), CONNECT).is_ok();
            addresses.iter().copied().any(accepts)
        }
        ReadyCondition::UdpBound { port, .. } => ["/proc/self/net/udp", "/proc/self/net/udp6"]
            .iter()
            .any(|table| lists_port(&fs::read_to_string(table).unwrap_or_default(), *port)),
    }
}

/// The awaited condition, in words.
pub fn describe(condition: &ReadyCondition) -> String {
    match condition {
        ReadyCondition::Event { .. } => "a ready event on stdout".into(),
        ReadyCondition::TcpConnect { port, .. } => format!("TCP port {port} to accept"),
        ReadyCondition::UdpBound { port, .. } => format!("UDP port {port} to be bound"),
    }
}

/// CPU time that a process had used when it was ready, if it says so.
pub fn stated_cpu_time(stdout: &Path) -> Option<Duration> {
    let mut head = Vec::new();
    File::open(stdout).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let EndpointEvent::Ready { cpu_ns, .. } = events(&head).next()?;
    cpu_ns.map(Duration::from_nanos)
}

fn says_ready(stdout: &[u8]) -> bool {
    events(stdout).next().is_some()
}

/// The events on whole lines.
fn events(stdout: &[u8]) -> impl Iterator<Item = EndpointEvent> {
    let whole_lines = stdout.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    whole_lines.filter_map(|line| serde_json::from_slice(line).ok())
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
    fn the_event_of_a_process_before_it_does_not_count() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = "{\"event\": \"ready\", \"ports\": {}}\n";
        fs::write(file.path(), line).unwrap();
        let met = |skipped| is_met(&ReadyCondition::Event { timeout_ns: 1 }, file.path(), skipped, &[]);
        assert!(met(0));
        assert!(!met(line.len() as u64));
        assert!(!met(1000), "nor of a file that is shorter");
        fs::write(file.path(), line.repeat(2)).unwrap();
        assert!(met(line.len() as u64));
    }

    #[test]
    fn a_ready_event_may_say_what_cpu_time_it_took() {
        let stated = |text: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), text).unwrap();
            stated_cpu_time(file.path())
        };
        let line = "{\"event\": \"ready\", \"ports\": {}, \"cpu_ns\": 7000}\n";
        assert_eq!(stated(&format!("words\n{line}")), Some(Duration::from_micros(7)));
        assert_eq!(stated("{\"event\": \"ready\", \"ports\": {}}\n"), None);
        assert_eq!(stated_cpu_time(Path::new("/no/such/file")), None);
    }

    #[test]
    fn a_bound_port_is_found_among_others() {
        let table = "   sl  local_address rem_address   st\n  462: 0200004D:20FB 00000000:0000 07\n";
        assert!(lists_port(table, 8443));
        assert!(!lists_port(table, 443));
    }
}
