//! A foreign client that is run once for each exchange (`docs/contract.md`, "per-exchange"), driven like the built-in ones: the driver keeps the
//! arrival process, the time-out and the outcome.
//!
//! The process starts at `start_ns`; what the kernel and the program take until the program's own clock starts is not in the phases it reports,
//! so they may lie up to some milliseconds earlier than its packets, while their differences are as the program saw them.

mod report;

use std::fs;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde::Deserialize;
use tokio::process::Command;
use wirelab_schema::{ConnectionPolicy, DownloadBytes, EndpointParameters, RequestResponse, Role};

use crate::base::attempt::{Attempt, ExchangeError};
use crate::workload::{Client, Own, Reading, Work, drive};
use crate::{Context, StackError, check};
use report::Report;

/// How to run the client: a JSON file next to the parameter file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerExchange {
    /// Program and arguments, executed directly. `{url}`, `{scheme}`, `{method}`, `{name}`, `{address}`, `{host}` (the same, IPv6 in brackets),
    /// `{port}`, `{authority}` (PEM file of the certificate authority), `{upload_file}`, `{fields_file}` (header fields of an own request, one a line), `{upload_bytes}`, `{download_bytes}` and `{timeout_s}` are filled in; other braces stay.
    pub command: Vec<String>,
    /// Exit codes by which the program says that it gave up for lack of time.
    #[serde(default)]
    pub timed_out_exit_codes: Vec<i32>,
}

/// Performs the context's workload with the foreign client.
pub async fn run(context: Context, template: PerExchange) -> Result<(), StackError> {
    let parameters = &context.parameters;
    let secure = check(parameters)?.descriptor().secure;
    let Work::Exchanges(workload) = Work::of(&parameters.workload) else {
        return Err(StackError::Unsupported(
            "a program that runs once for each exchange does not wait for messages or load pages".to_owned(),
        ));
    };
    if parameters.role != Role::Client {
        return Err(StackError::Unsupported("a program that runs once for each exchange is a client".to_owned()));
    }
    if workload.connection != ConnectionPolicy::New {
        return Err(StackError::Unsupported(
            "a program that runs once for each exchange keeps no connection".to_owned(),
        ));
    }
    let upload_file = parameters.output.join("upload.bin");
    let own = workload.request.as_ref().map(|request| Own::checked(request, workload.upload_bytes));
    let upload = match &own {
        Some(own) => own.body.clone(),
        None => Reading::of(parameters).body,
    };
    let fields_file = parameters.output.join("fields.txt");
    let fields = own.as_ref().map(Own::lines).unwrap_or_default();
    for (path, content) in [(&upload_file, upload), (&fields_file, fields.into())] {
        fs::write(path, content).map_err(|error| StackError::failed(path.display(), error))?;
    }
    let placeholders = placeholders(parameters, &workload, own.as_ref(), secure, [&upload_file, &fields_file]);
    let mut command = template.command.iter().map(|word| fill(word, &placeholders));
    let client = ForeignClient {
        program: command.next().ok_or_else(|| StackError::Usage("`command` is empty".to_owned()))?,
        arguments: command.collect(),
        target: Target::of(parameters, &workload, own.as_ref(), secure),
        folder: parameters.output.clone(),
        timed_out_exit_codes: template.timed_out_exit_codes,
        download_bytes: workload.download_bytes,
    };
    drive(context, |_, _| Ok(client.clone())).await
}

#[derive(Clone)]
struct ForeignClient {
    program: String,
    /// Those of the exchange itself are still to be filled in.
    arguments: Vec<String>,
    target: Target,
    folder: PathBuf,
    timed_out_exit_codes: Vec<i32>,
    download_bytes: DownloadBytes,
}

impl Client for ForeignClient {
    type Connection = ();

    async fn connect(&self, _attempt: &mut Attempt) -> Result<(), ExchangeError> {
        Ok(())
    }

    async fn exchange(&self, _connection: &mut (), attempt: &mut Attempt) -> Result<(), ExchangeError> {
        let download_bytes = self.download_bytes.of(attempt.exchange.index);
        let output = self.execute(download_bytes).await?;
        attempt.stamp_end();
        let report = Report::parse(&output.stdout, &attempt.exchange);
        if !output.status.success() {
            if let Ok(report) = report {
                attempt.exchange = report.exchange;
            }
            return Err(match output.status.code() {
                Some(code) if self.timed_out_exit_codes.contains(&code) => ExchangeError::TimedOut,
                _ => ExchangeError::new(format!("{}: {}{}", self.program, output.status, last_line(&output.stderr))),
            });
        }
        let report = report?;
        attempt.exchange = report.exchange.clone();
        report.judge((!self.target.is_own).then_some(download_bytes))
    }

    fn is_usable(&self, _connection: &()) -> bool {
        false
    }

    async fn close(&self, _connection: ()) {}
}

impl ForeignClient {
    /// Runs to the end, or is killed when the exchange is given up.
    async fn execute(&self, download_bytes: u64) -> Result<Output, ExchangeError> {
        let placeholders = self.target.placeholders(download_bytes);
        let child = Command::new(&self.program)
            .args(self.arguments.iter().map(|word| fill(word, &placeholders)))
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        match child {
            Ok(child) => Ok(child.wait_with_output().await?),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(ExchangeError::new(format!("no program `{}`", self.program)))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What the exchanges of a client ask for.
#[derive(Clone)]
struct Target {
    /// `https://server.test:8443`.
    origin: String,
    /// The target of every exchange; none if it depends on the exchange.
    path: Option<String>,
    /// Nothing is known of the responses' bodies.
    is_own: bool,
}

impl Target {
    fn of(parameters: &EndpointParameters, workload: &RequestResponse, own: Option<&Own>, secure: bool) -> Self {
        let scheme = if secure { "https" } else { "http" };
        let origin = format!("{scheme}://{}:{}", parameters.server.name, parameters.server.port);
        let path = match own {
            Some(own) => Some(own.target.clone()),
            None => (workload.upload_bytes > 0).then(|| "/upload".to_owned()),
        };
        Target { origin, path, is_own: own.is_some() }
    }

    /// Those that differ from exchange to exchange.
    fn placeholders(&self, download_bytes: u64) -> [(&'static str, String); 2] {
        let path = self.path.clone().unwrap_or_else(|| format!("/bytes/{download_bytes}"));
        [("{url}", format!("{}{path}", self.origin)), ("{download_bytes}", download_bytes.to_string())]
    }
}

fn placeholders(
    parameters: &EndpointParameters,
    workload: &RequestResponse,
    own: Option<&Own>,
    secure: bool,
    [upload_file, fields_file]: [&Path; 2],
) -> Vec<(&'static str, String)> {
    let server = &parameters.server;
    let scheme = if secure { "https" } else { "http" };
    let method = match own {
        Some(own) => own.method.to_string(),
        None => if workload.upload_bytes == 0 { "GET" } else { "POST" }.to_owned(),
    };
    let authority = parameters.certificates.as_ref().map(|files| files.authority.display().to_string());
    vec![
        ("{scheme}", scheme.to_owned()),
        ("{method}", method),
        ("{name}", server.name.clone()),
        ("{address}", server.address.to_string()),
        ("{host}", host(server.address)),
        ("{port}", server.port.to_string()),
        ("{authority}", authority.unwrap_or_default()),
        ("{upload_file}", upload_file.display().to_string()),
        ("{fields_file}", fields_file.display().to_string()),
        ("{upload_bytes}", workload.upload_bytes.to_string()),
        ("{timeout_s}", (workload.timeout_ns as f64 / 1e9).to_string()),
    ]
}

/// An address as a URL has it (RFC 3986, section 3.2.2).
fn host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

fn fill(word: &str, placeholders: &[(&str, String)]) -> String {
    placeholders.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value))
}

fn last_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.trim().lines().last().map(|line| format!(": {line}")).unwrap_or_default()
}
