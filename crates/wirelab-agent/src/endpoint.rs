//! `endpoint`: plays one role of one protocol by the endpoint contract. The protocols are in `wirelab-stacks`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use wirelab_net::counters::own_cpu_time;
use wirelab_schema::{EndpointEvent, EndpointParameters, Role, SCHEMA_VERSION};
use wirelab_stacks::exec::{self, PerExchange};
use wirelab_stacks::recorder::{ArrowRecorder, NoRecorder, Recorder};
use wirelab_stacks::{
    Clock, Context, Received, StackError, Stopper, SystemClock, TimersClock, find, stop_signal, workload_kinds,
};

#[derive(clap::Args)]
pub struct Arguments {
    /// What to run: a JSON file (`schema/endpoint-parameters.json`).
    #[arg(value_name = "PARAMETERS")]
    parameters: PathBuf,
    /// Run a third-party client once for each exchange, as this JSON file says: `command` and `timed_out_exit_codes`.
    #[arg(long, value_name = "TEMPLATE")]
    per_exchange: Option<PathBuf>,
    /// Take no time stamps and record nothing, in a closed loop: for the bench, which compares CPU times with and without.
    #[arg(long, hide = true)]
    unmeasured: bool,
}

pub fn run(arguments: Arguments) -> ExitCode {
    match play(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            // docs/contract.md, "Exit code"
            ExitCode::from(match error {
                StackError::Failed(_) => 1,
                StackError::Usage(_) => 2,
                StackError::Unsupported(_) => 3,
            })
        }
    }
}

fn play(arguments: &Arguments) -> Result<(), StackError> {
    let parameters = read_parameters(&arguments.parameters)?;
    let foreign = arguments.per_exchange.as_deref().map(read_template).transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StackError::failed("starting", error))?;
    runtime.block_on(async {
        let (stopper, stop) = stop_signal();
        stop_on_signals(stopper).map_err(|error| StackError::failed("signal handlers", error))?;
        let (clock, recorder): (Arc<dyn Clock>, Box<dyn Recorder>) = match arguments.unmeasured {
            false => (Arc::new(SystemClock), Box::new(ArrowRecorder::new(&parameters.output, &parameters.workload))),
            true => (Arc::new(TimersClock), Box::new(NoRecorder)),
        };
        let is_measured_server = parameters.role == Role::Server && !arguments.unmeasured;
        let received = if is_measured_server { Received::new(clock.clone()) } else { Received::default() };
        let (output, record) = (parameters.output.clone(), received.clone());
        let context = Context { clock, recorder, stop, ready: Box::new(print_ready), parameters, received };
        match foreign {
            None => wirelab_stacks::run(context).await?,
            Some(template) => exec::run(context, template).await?,
        }
        record.write(&output)
    })
}

/// A protocol, role or workload that does not exist is unsupported; everything else that cannot be read is a usage error.
fn read_parameters(path: &Path) -> Result<EndpointParameters, StackError> {
    let usage = |error: &dyn Display| unreadable(path, error);
    let text = fs::read_to_string(path).map_err(|error| usage(&error))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| usage(&error))?;
    if let Some(version) = value.get("schema_version").filter(|version| **version != SCHEMA_VERSION) {
        return Err(usage(&format!("`schema_version` is {version}, this program's is {SCHEMA_VERSION}")));
    }
    if let Some(protocol) = value.get("protocol").and_then(Value::as_str).filter(|name| find(name).is_none()) {
        return Err(StackError::Unsupported(format!("no protocol `{protocol}`")));
    }
    let role = value.get("role").filter(|role| role.is_string());
    if let Some(role) = role.filter(|role| Role::deserialize(*role).is_err()) {
        return Err(StackError::Unsupported(format!("no role {role}")));
    }
    let kind = value.pointer("/workload/kind").and_then(Value::as_str);
    if let Some(kind) = kind.filter(|kind| !workload_kinds().iter().any(|known| known == kind)) {
        return Err(StackError::Unsupported(format!(
            "no workload `{kind}`; there are {}",
            workload_kinds().join(", ")
        )));
    }
    // From the text, for the line and column in the message.
    serde_json::from_str(&text).map_err(|error| usage(&error))
}

fn read_template(path: &Path) -> Result<PerExchange, StackError> {
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    serde_json::from_str(&text).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &dyn Display) -> StackError {
    StackError::Usage(format!("{}: {error}", path.display()))
}

fn stop_on_signals(stopper: Stopper) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stopper.stop();
    });
    Ok(())
}

fn print_ready(ports: BTreeMap<String, u16>) {
    let cpu_ns = own_cpu_time().map(|time| time.as_nanos() as u64);
    let event = serde_json::to_string(&EndpointEvent::Ready { ports, cpu_ns }).expect("plain data");
    let mut stdout = io::stdout().lock();
    // The process that started a server probes it if it does not read its stdout.
    let _ = writeln!(stdout, "{event}").and_then(|()| stdout.flush());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(change: impl FnOnce(&mut Value)) -> StackError {
        let mut parameters = json!({
            "schema_version": SCHEMA_VERSION,
            "protocol": "raw-tcp",
            "role": "client",
            "server": {"address": "127.0.0.1", "port": 1, "name": "server.test"},
            "settings": {},
            "workload": {
                "kind": "request-response",
                "upload_bytes": 1,
                "download_bytes": 0,
                "exchanges": 1,
                "arrival": {"process": "closed"},
                "concurrency": 1,
                "timeout_ns": 1_000_000,
                "connection": {"policy": "new"},
            },
            "certificates": null,
            "output": "/nonexistent",
            "seed": 1,
        });
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("parameters.json");
        fs::write(&path, parameters.to_string()).expect("written");
        read_parameters(&path).expect("readable before the change");
        change(&mut parameters);
        fs::write(&path, parameters.to_string()).expect("written");
        read_parameters(&path).expect_err("refused")
    }

    #[test]
    fn an_unknown_protocol_role_or_workload_is_unsupported() {
        let unknown_protocol = refusal(|parameters| parameters["protocol"] = json!("gopher"));
        assert!(matches!(unknown_protocol, StackError::Unsupported(_)));
        let unknown_role = refusal(|parameters| parameters["role"] = json!("broker"));
        assert!(matches!(unknown_role, StackError::Unsupported(_)));
        let unknown_workload = refusal(|parameters| parameters["workload"]["kind"] = json!("gossip"));
        assert!(matches!(unknown_workload, StackError::Unsupported(_)));
    }

    #[test]
    fn an_unknown_key_a_wrong_kind_of_value_or_another_version_is_a_usage_error() {
        assert!(matches!(refusal(|parameters| parameters["colour"] = json!(1)), StackError::Usage(_)));
        assert!(matches!(refusal(|parameters| parameters["role"] = json!(1)), StackError::Usage(_)));
        assert!(matches!(refusal(|parameters| parameters["workload"]["exchanges"] = json!(-1)), StackError::Usage(_)));
        let version = refusal(|parameters| parameters["schema_version"] = json!(SCHEMA_VERSION + 1));
        assert!(version.to_string().contains("schema_version"));
    }
}
