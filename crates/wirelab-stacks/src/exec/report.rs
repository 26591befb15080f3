//! What a third-party client reports of one exchange, as a row. It starts no process.

use serde::Serialize;
use serde_json::{Map, Value};
use wirelab_schema::{Exchange, Extension, Outcome, RequestExtension};

use crate::base::attempt::ExchangeError;

/// Fields that the driver knows better.
const DRIVERS_OWN: [&str; 8] =
    ["index", "client", "intended_start_ns", "start_ns", "connection_reused", "program_end_ns", "place_ns", "attempts"];

/// What a foreign client said of its exchange: one JSON object with fields of [`Exchange`] and
/// [`RequestExtension`].
///
/// A time may be given in seconds from the start of the process (`end_s` for `end_ns`), 0 or less meaning that the phase did not happen; so does
/// a status or port of 0.
pub struct Report {
    /// The driver's row with what the client said filled in.
    pub exchange: Exchange,
    received_bytes: Option<u64>,
    outcome: Option<Outcome>,
}

impl Report {
    /// Reads the client's stdout. `started` is the row as the driver began it, with the end of the client's process.
    pub fn parse(stdout: &[u8], started: &Exchange) -> Result<Self, ExchangeError> {
        let text = String::from_utf8_lossy(stdout);
        let said: Map<String, Value> = serde_json::from_str(text.trim()).map_err(|error| {
            let said: String = text.trim().chars().take(200).collect();
            ExchangeError::new(format!("not one JSON object ({error}): {said}"))
        })?;
        let has = |name| said.contains_key(name);
        let (has_received, has_outcome) = (has("body_received_bytes"), has("outcome"));
        let mut row = object(started);
        let program_end_ns = Some(started.end_ns);
        let mut extension = object(&RequestExtension { program_end_ns, ..RequestExtension::default() });
        for (key, value) in said {
            let (name, value) = in_nanoseconds(key, value, started.start_ns)?;
            let is_extension = extension.contains_key(&name);
            if DRIVERS_OWN.contains(&name.as_str()) || !(is_extension || row.contains_key(&name)) {
                return Err(ExchangeError::new(format!("the client said `{name}`, which is not its to say")));
            }
            if is_extension {
                extension.insert(name, value);
                continue;
            }
            // An end that did not happen is the driver's.
            if name != "end_ns" || !value.is_null() {
                row.insert(name, value);
            }
        }
        let mut exchange: Exchange = serde_json::from_value(Value::Object(row))?;
        exchange.extension = Extension::Request(serde_json::from_value(Value::Object(extension))?);
        let received_bytes = has_received.then_some(exchange.body_received_bytes);
        let outcome = has_outcome.then_some(exchange.outcome);
        Ok(Report { exchange, received_bytes, outcome })
    }

    /// Whether the exchange completed, by what the client said; for a client that says nothing, by its exit alone. The body's size is not judged
    /// if nobody knows it.
    pub fn judge(self, download_bytes: Option<u64>) -> Result<(), ExchangeError> {
        let failed = |words: String| Err(ExchangeError::new(words));
        let reason = || self.exchange.error.clone().unwrap_or_else(|| "the client said so".to_owned());
        match self.outcome {
            Some(Outcome::TimedOut) => return Err(ExchangeError::TimedOut),
            Some(Outcome::Unsupported) => return Err(ExchangeError::Unsupported(reason())),
            Some(Outcome::Failed | Outcome::NotConfirmed) => return failed(reason()),
            Some(Outcome::Completed | Outcome::Sent) | None => {}
        }
        if let Some(status) = self.exchange.status.filter(|status| !(200..300).contains(status)) {
            return failed(format!("status {status}"));
        }
        match (self.received_bytes, download_bytes) {
            (Some(bytes), Some(expected)) if bytes != expected => {
                failed(format!("body of {bytes} bytes where {expected} were expected"))
            }
            _ => Ok(()),
        }
    }
}

fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("a row is an object"),
    }
}

/// The field of a row that a key means, with its value there.
fn in_nanoseconds(key: String, value: Value, start_ns: u64) -> Result<(String, Value), ExchangeError> {
    if key == "status" || key == "local_port" {
        return Ok((key, if value == 0 { Value::Null } else { value }));
    }
    let Some(stem) = key.strip_suffix("_s") else { return Ok((key, value)) };
    let name = format!("{stem}_ns");
    if value.is_null() {
        return Ok((name, value));
    }
    let seconds = value.as_f64().ok_or_else(|| ExchangeError::new(format!("`{key}` is {value}, not seconds")))?;
    let nanoseconds = (seconds * 1e9).round() as u64;
    Ok(match name.as_str() {
        _ if seconds <= 0.0 => (name, Value::Null),
        "curl_starttransfer_ns" | "smoothed_rtt_ns" => (name, nanoseconds.into()),
        _ => {
            let instant_ns = start_ns.checked_add(nanoseconds);
            (name, instant_ns.ok_or_else(|| ExchangeError::new(format!("`{key}` is {value}, beyond all time")))?.into())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Report, ExchangeError> {
        let started = Exchange { index: 3, start_ns: 1_000, end_ns: 5_000, ..Exchange::default() };
        Report::parse(text.as_bytes(), &started)
    }

    #[test]
    fn seconds_count_from_the_start_and_zero_means_that_it_did_not_happen() {
        let report =
            parse(r#"{"tcp_connect_s": 0.000002, "handshake_s": 0, "end_s": 0.5, "curl_starttransfer_s": 0.25}"#);
        let exchange = report.expect("read").exchange;
        assert_eq!((exchange.index, exchange.tcp_connect_ns, exchange.handshake_ns), (3, Some(3_000), None));
        let printed = exchange.request().and_then(|columns| columns.curl_starttransfer_ns);
        assert_eq!((exchange.end_ns, printed), (500_001_000, Some(250_000_000)));
    }

    #[test]
    fn an_end_of_zero_seconds_means_the_end_of_the_process() {
        let exchange = parse(r#"{"end_s": 0.0, "status": 0}"#).expect("read").exchange;
        let ended = exchange.request().and_then(|columns| columns.program_end_ns);
        assert_eq!((exchange.end_ns, ended), (5_000, Some(5_000)));
    }

    #[test]
    fn an_unknown_key_or_one_of_the_driver_is_an_error_with_its_name() {
        for key in [
            "colour",
            "start_ns",
            "start_s",
            "index",
            "copies",
            "connections",
            "program_end_ns",
            "place_ns",
            "attempts",
        ] {
            let error = parse(&format!(r#"{{"{key}": 1}}"#)).map(drop).expect_err(key).to_string();
            assert!(error.contains(key.trim_end_matches("_s")), "{error}");
        }
    }

    #[test]
    fn a_time_that_no_clock_reaches_is_an_error_with_its_value() {
        let error = parse(r#"{"end_s": 1e300}"#).map(drop).expect_err("beyond all time").to_string();
        assert!(error.starts_with("`end_s` is 1e"), "{error}");
    }

    #[test]
    fn output_that_is_not_json_is_quoted() {
        let error = parse("curl: (7) refused").map(drop).expect_err("not JSON").to_string();
        assert!(error.contains("curl: (7) refused"), "{error}");
    }

    #[test]
    fn a_wrong_status_or_length_fails_the_exchange() {
        let judge = |text: &str| parse(text).expect("read").judge(Some(10)).map_err(|error| error.to_string());
        assert!(judge(r#"{"status": 200, "body_received_bytes": 10}"#).is_ok());
        assert!(judge("{}").is_ok());
        assert_eq!(judge(r#"{"status": 404}"#), Err("status 404".to_owned()));
        assert!(judge(r#"{"body_received_bytes": 9}"#).is_err());
        assert_eq!(judge(r#"{"outcome": "failed", "error": "no luck"}"#), Err("no luck".to_owned()));
    }
}
