//! How a load ends, with the rows of its resources. It decides on no request.

use wirelab_schema::{Outcome, ResourceTiming};

use super::{Load, State};

/// Paths that an error names.
const NAMED: usize = 5;

/// What is left of a load.
pub struct Ended {
    /// A row for each fetch, in the order of discovery.
    pub rows: Vec<ResourceTiming>,
    /// Of the load.
    pub outcome: Outcome,
    /// Which resources did not come.
    pub error: Option<String>,
    /// The last byte of the last resource; of a load that is not complete, when it was given up.
    pub end_ns: u64,
    /// Connections that were begun.
    pub connections: u32,
    /// Of all bodies.
    pub body_bytes: u64,
    /// Of those, of pushed ones.
    pub pushed_bytes: u64,
    /// Of those, of which no use was made.
    pub wasted_pushed_bytes: u64,
}

impl Load {
    /// What came of a response that is all there.
    pub fn judge(&mut self, fetch: usize) -> (Outcome, Option<String>) {
        let row = &self.fetches[fetch].row;
        let failed = |words: String| (Outcome::Failed, Some(words));
        if !matches!(row.status, Some(200..300)) {
            return failed(format!("status {}", row.status.unwrap_or(0)));
        }
        let Some(resource) = row.resource else { return (Outcome::Completed, None) };
        let expected = &self.page.resources()[resource as usize];
        if row.body_received_bytes != expected.body_bytes {
            let received = row.body_received_bytes;
            return failed(format!("body of {received} bytes where {} were expected", expected.body_bytes));
        }
        let digest = self.fetches[fetch].hash.clone().finish();
        let hexadecimal: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        match hexadecimal == expected.sha256 {
            true => (Outcome::Completed, None),
            false => failed(format!("body's SHA-256 is {hexadecimal}, not the manifest's")),
        }
    }

    /// Ends it: at its end, or given up before. What is under way has been told so.
    pub fn finish(mut self, now_ns: u64) -> Ended {
        for fetch in 0..self.fetches.len() {
            if self.fetches[fetch].state != State::Ended {
                self.end(fetch, now_ns, Outcome::TimedOut, None);
            }
        }
        let connections = self.connections.count() as u32;
        let mut rows: Vec<ResourceTiming> = self.fetches.into_iter().map(|fetch| fetch.row).collect();
        let of_page = || rows.iter().filter(|row| row.resource.is_some());
        let missing: Vec<String> = of_page().filter(|row| row.outcome != Outcome::Completed).map(in_words).collect();
        let timed_out = of_page().any(|row| row.outcome == Outcome::TimedOut);
        let (outcome, what) = match (missing.is_empty(), timed_out) {
            (true, _) => (Outcome::Completed, ""),
            (false, true) => (Outcome::TimedOut, "open"),
            (false, false) => (Outcome::Failed, "not loaded"),
        };
        let end_ns = match outcome {
            Outcome::Completed => of_page().map(|row| row.end_ns).max().unwrap_or(now_ns),
            _ => now_ns,
        };
        if !timed_out {
            for row in rows.iter_mut().filter(|row| row.outcome == Outcome::TimedOut) {
                (row.outcome, row.error) = (Outcome::Failed, Some("cut off when the load was over".to_owned()));
            }
        }
        let bytes = |counts: &dyn Fn(&ResourceTiming) -> bool| {
            rows.iter().filter(|row| counts(row)).map(|row| row.body_received_bytes).sum()
        };
        Ended {
            outcome,
            error: (outcome != Outcome::Completed).then(|| format!("{what}: {}", list(&missing))),
            end_ns,
            connections,
            body_bytes: bytes(&|_| true),
            pushed_bytes: bytes(&|row| row.pushed),
            wasted_pushed_bytes: bytes(&|row| {
                row.pushed && (row.resource.is_none() || row.outcome != Outcome::Completed)
            }),
            rows,
        }
    }
}

fn in_words(row: &ResourceTiming) -> String {
    match &row.error {
        Some(error) => format!("{} ({error})", row.path),
        None => row.path.clone(),
    }
}

fn list(missing: &[String]) -> String {
    let named = missing[..missing.len().min(NAMED)].join(", ");
    match missing.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
