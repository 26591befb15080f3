//! Compares the exchanges that a trial's client calls complete with the packets of its link. What confirms one is
//! `wirelab_capture::confirm`'s to say; here is what an exchange of each workload and protocol needs.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use wirelab_capture::confirm::{Claim, Lack, Stamps, deliveries, unconfirmed, unreceived};
use wirelab_capture::log_file;
use wirelab_net::link::{Direction, Instant};
use wirelab_net::topology::LinkShape;
use wirelab_schema::{
    ConfirmRequest, Confirmation, EndpointParameters, NotConfirmed, ProtocolDescription, TrialRequest,
};
use wirelab_stacks::received;
use wirelab_stacks::recorder::{Recorded, read};
use wirelab_stacks::workload::Work;

const COMPLETED: &str = "completed";
const SENT: &str = "sent";
/// Behind the end of every trial, and far enough before the end of all time to add a tolerance.
const LATER: Instant = Instant::from_nanos(u64::MAX / 2);

/// What the packets of a trial's first link say of its client's exchanges. It never fails: what cannot be compared is said in the result.
pub fn confirm(request: &TrialRequest, asked: &ConfirmRequest, shape: &LinkShape) -> Confirmation {
    match compare(request, asked, shape) {
        Ok(confirmation) => confirmation,
        Err(reason) => Confirmation { not_checked: Some(reason), ..Confirmation::default() },
    }
}

fn compare(request: &TrialRequest, asked: &ConfirmRequest, shape: &LinkShape) -> Result<Confirmation, String> {
    let log = request.packet_log.as_deref().ok_or("the trial has no packet log")?;
    if request.link.is_netem() {
        return Err("netem does not say when it delivered a packet".to_owned());
    }
    if shape.port_of("client").is_none_or(|port| port.direction() != Direction::Uplink) {
        return Err("the client is not on the near side of the first link".to_owned());
    }
    let parameters = parameters(&asked.parameters)?;
    let protocol = wirelab_stacks::find(&parameters.protocol).map(|stack| stack.descriptor());
    let protocol = protocol.ok_or_else(|| {
        format!("what an exchange of the user's own protocol {} needs is not known", parameters.protocol)
    })?;
    let needs = Needs::of(&protocol, &parameters, asked.received.is_some());
    let rows = match read(&parameters.output) {
        Ok(rows) => rows,
        Err(error) => return Ok(Confirmation { unread: Some(error.to_string()), ..Confirmation::default() }),
    };
    let of = |outcome: &'static str| rows.iter().filter(move |row| row.outcome == outcome);
    let claims: Vec<Claim> = of(COMPLETED).map(|row| needs.claim(row, asked.stamp_tolerance_ns)).collect();
    let sent: Vec<Claim> = of(SENT).map(|row| needs.sent(row, asked.stamp_tolerance_ns)).collect();
    if claims.is_empty() && sent.is_empty() {
        return Ok(Confirmation::default());
    }
    let log = log_file::read(log).map_err(|error| format!("{error:#}"))?;
    let link = deliveries(&log, parameters.server.port);
    let received = match asked.received.as_deref().filter(|path| needs.is_noted() && path.exists()) {
        Some(path) => Some(instants(path)?),
        None => None,
    };
    let lacking = |claims: &[Claim]| -> Vec<NotConfirmed> {
        let by_link = unconfirmed(claims, &link);
        let absent: HashSet<_> = by_link.iter().map(|(claim, _)| (claim.client, claim.index)).collect();
        let carried = claims.iter().filter(|claim| !absent.contains(&(claim.client, claim.index)));
        let by_server = received.as_deref().map(|instants| unreceived(carried, instants)).unwrap_or_default();
        let mut found: Vec<_> = by_link.into_iter().chain(by_server).collect();
        found.sort_by_key(|(claim, _)| (claim.end, claim.client, claim.index));
        found.into_iter().map(|(claim, lack)| not_confirmed(claim, &lack)).collect()
    };
    Ok(Confirmation {
        checked: claims.len() as u32,
        not_confirmed: lacking(&claims),
        sent: sent.len() as u32,
        arrived: (sent.len() - lacking(&sent).len()) as u32,
        ..Confirmation::default()
    })
}

fn not_confirmed(claim: &Claim, lack: &Lack) -> NotConfirmed {
    NotConfirmed { client: claim.client, index: claim.index, reason: lack.to_string() }
}

/// When the server had each message.
fn instants(path: &Path) -> Result<Vec<Instant>, String> {
    let read = received::read(path).map_err(|error| error.to_string())?;
    Ok(read.into_iter().map(Instant::from_nanos).collect())
}

fn parameters(path: &Path) -> Result<EndpointParameters, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

/// What an exchange of a workload and a protocol needs of the link.
struct Needs {
    work: Work,
    echo: bool,
    /// The server answers a message only when it has all of it. Another may begin before, but not without a byte of the message.
    answers_last: bool,
}

impl Needs {
    fn of(protocol: &ProtocolDescription, parameters: &EndpointParameters, answers_last: bool) -> Self {
        Self { work: Work::of(&parameters.workload), echo: protocol.echo, answers_last }
    }

    /// A server of Wirelab's own notes each message of it: an echo has none, and a subscriber or a page sends none.
    fn is_noted(&self) -> bool {
        matches!(self.work, Work::Exchanges(_)) && !self.echo
    }

    fn claim(&self, row: &Recorded, tolerance_ns: u64) -> Claim {
        let (bytes, asks) = match &self.work {
            Work::Exchanges(work) if self.echo => ([work.upload_bytes; 2], true),
            Work::Exchanges(work) => ([work.upload_bytes, work.download_bytes.of(row.index)], true),
            Work::Changes(work) => ([0, work.message_bytes], false),
            Work::Page(_) => ([0, row.body_received_bytes], true),
        };
        let stamps = match row.program_end_ns {
            Some(ended_ns) => Stamps::Shifted(Instant::from_nanos(ended_ns)),
            None => Stamps::Within(Duration::from_nanos(tolerance_ns)),
        };
        Claim {
            client: row.client,
            index: row.index,
            start: Instant::from_nanos(row.start_ns),
            end: Instant::from_nanos(row.end_ns),
            stamps,
            // A load has several connections.
            local_port: row.local_port.filter(|_| !matches!(self.work, Work::Page(_))),
            bytes: if asks { bytes.map(|bytes| bytes.max(1)) } else { bytes },
            answered: asks && self.answers_last,
        }
    }

    /// A message that nothing answers: its bytes are to arrive at any time.
    fn sent(&self, row: &Recorded, tolerance_ns: u64) -> Claim {
        let claim = self.claim(row, tolerance_ns);
        let stamps = Stamps::Within(Duration::from_nanos(tolerance_ns));
        Claim { end: LATER, stamps, bytes: [claim.bytes[0], 0], answered: false, ..claim }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn needs(protocol: &str, settings: Value, kind: Value, answers_last: bool) -> Needs {
        let exchanges = json!({
            "exchanges": 3, "arrival": {"process": "closed"}, "concurrency": 1, "timeout_ns": 1_000,
            "connection": {"policy": "new"},
        });
        let mut workload = kind;
        let fields = workload.as_object_mut().expect("an object");
        if fields["kind"] != "stream" {
            fields.extend(exchanges.as_object().expect("an object").clone());
        }
        let parameters = serde_json::from_value(json!({
            "schema_version": 1, "protocol": protocol, "role": "client",
            "server": {"address": "127.0.0.1", "port": 1, "name": "server.test"}, "settings": settings,
            "workload": workload, "certificates": null, "output": "/", "seed": 1,
        }));
        let descriptor = wirelab_stacks::find(protocol).expect("a protocol").descriptor();
        Needs::of(&descriptor, &parameters.expect("parameters"), answers_last)
    }

    fn claim(needs: &Needs) -> ([u64; 2], bool) {
        let row = Recorded { index: 1, outcome: COMPLETED.to_owned(), ..Recorded::default() };
        let claim = needs.claim(&row, 0);
        (claim.bytes, claim.answered)
    }

    #[test]
    fn an_exchange_needs_its_bodies_and_at_least_a_byte_each_way() {
        let request = json!({"kind": "request-response", "upload_bytes": 0, "download_bytes": [7, 9]});
        assert_eq!(claim(&needs("http1", json!({}), request.clone(), true)), ([1, 9], true));
        // Another server may answer before it has read all.
        assert_eq!(claim(&needs("http1", json!({}), request, false)), ([1, 9], false));
        let message = json!({"kind": "telemetry", "message_bytes": 30});
        assert_eq!(claim(&needs("http1", json!({}), message.clone(), true)), ([30, 1], true));
        assert_eq!(claim(&needs("raw-udp", json!({}), message, true)), ([30, 30], true));
    }

    #[test]
    fn a_message_that_is_received_needs_its_bytes_to_the_client_alone() {
        let stream = json!({
            "kind": "stream", "message_bytes": 100, "messages": 1, "rate_hz": 1.0, "timeout_ns": 1, "playout_delay_ns": 1,
        });
        assert_eq!(claim(&needs("mqtt", json!({"qos": 0}), stream, true)), ([0, 100], false));
    }

    #[test]
    fn a_server_notes_requests_and_no_echo_or_receipt() {
        let message = json!({"kind": "telemetry", "message_bytes": 30});
        assert!(needs("http1", json!({}), message.clone(), true).is_noted());
        assert!(!needs("raw-udp", json!({}), message, true).is_noted());
        let stream = json!({
            "kind": "stream", "message_bytes": 100, "messages": 1, "rate_hz": 1.0, "timeout_ns": 1, "playout_delay_ns": 1,
        });
        assert!(!needs("mqtt", json!({}), stream, true).is_noted());
    }

    #[test]
    fn a_message_that_nothing_answers_needs_its_bytes_to_the_server_at_any_time() {
        let needs = needs("mqtt", json!({"qos": 0}), json!({"kind": "telemetry", "message_bytes": 30}), true);
        let row = Recorded { start_ns: 5, end_ns: 6, outcome: SENT.to_owned(), ..Recorded::default() };
        let claim = needs.sent(&row, 0);
        assert_eq!((claim.bytes, claim.answered, claim.end), ([30, 0], false, LATER));
    }
}
