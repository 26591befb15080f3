//! Endpoints on loopback, in the test's own process.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wirelab_schema::{
    ArrivalSpec, Certificates, ClientCertificate, ConnectionPolicy, EndpointParameters, Exchange, PageFiles,
    RequestResponse, ResourceTiming, Role, SCHEMA_VERSION, ServerAddress, Telemetry, WorkloadSpec,
};
use wirelab_stacks::recorder::Recorder;
use wirelab_stacks::workload::REQUEST_RESPONSE;
use wirelab_stacks::{Context, Received, StackError, Stopper, SystemClock, find, stop_signal};

/// No test waits longer for an endpoint to end.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Settings by name.
pub type Settings<'a> = &'a [(&'a str, Value)];

/// A folder with a certificate authority, and the endpoints that use it.
pub struct Lab {
    folder: TempDir,
    /// Name by which clients call the server.
    pub server_name: String,
    /// Seed of the clients; servers have 1.
    pub client_seed: u64,
    /// The page that all endpoints are told of.
    pub page: Option<PageFiles>,
}

impl Lab {
    /// With certificates of its own.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        write_certificates(folder.path());
        Lab { folder, server_name: "server.test".to_owned(), client_seed: 1, page: None }
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Parameters of an endpoint whose server is at `port`.
    pub fn parameters(
        &self,
        stack: &str,
        role: Role,
        port: u16,
        workload: impl Into<WorkloadSpec>,
        settings: Settings,
    ) -> EndpointParameters {
        let file = |name: &str| self.folder.path().join(name);
        let name = if role == Role::Client { self.server_name.clone() } else { "server.test".to_owned() };
        EndpointParameters {
            schema_version: SCHEMA_VERSION,
            protocol: stack.to_owned(),
            role,
            server: ServerAddress { address: IpAddr::from([127, 0, 0, 1]), port, name },
            upstream: None,
            settings: settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            workload: as_done_by(stack, workload.into()),
            page: self.page.clone(),
            certificates: Some(Certificates {
                authority: file("authority.pem"),
                chain: file("chain.pem"),
                key: file("key.pem"),
                client: Some(ClientCertificate { chain: file("client-chain.pem"), key: file("client-key.pem") }),
            }),
            output: self.folder.path().to_owned(),
            seed: if role == Role::Client { self.client_seed } else { 1 },
        }
    }

    /// A server that accepts connections.
    pub async fn serve(&self, stack: &str, workload: impl Into<WorkloadSpec>, settings: Settings<'_>) -> Server {
        let (stopper, stop) = stop_signal();
        let (sender, receiver) = oneshot::channel();
        let ready = move |ports: BTreeMap<String, u16>| sender.send(ports["main"]).expect("the test waits");
        let context = Context {
            parameters: self.parameters(stack, Role::Server, 0, workload, settings),
            clock: Arc::new(SystemClock),
            recorder: Box::new(Rows::default()),
            stop,
            ready: Box::new(ready),
            received: Received::default(),
        };
        let task = tokio::spawn(wirelab_stacks::run(context));
        Server { port: receiver.await.expect("the server gets ready"), stopper, task }
    }

    /// A client of the server at `port`, run to its end.
    pub async fn run_client(
        &self,
        stack: &str,
        port: u16,
        workload: impl Into<WorkloadSpec>,
        settings: Settings<'_>,
    ) -> Result<Vec<Exchange>, StackError> {
        let (_stopper, client) = self.client(stack, port, workload, settings);
        client.await
    }

    /// A client and what stops it.
    pub fn client(
        &self,
        stack: &str,
        port: u16,
        workload: impl Into<WorkloadSpec>,
        settings: Settings,
    ) -> (Stopper, BoxFuture<'static, Result<Vec<Exchange>, StackError>>) {
        let (context, stopper, rows) = self.client_context(stack, port, workload, settings);
        let client = async move {
            tokio::time::timeout(PATIENCE, wirelab_stacks::run(context)).await.expect("the client ends")?;
            Ok(rows.taken())
        };
        (stopper, Box::pin(client))
    }

    /// What a client is given, what stops it, and where its rows will be.
    pub fn client_context(
        &self,
        stack: &str,
        port: u16,
        workload: impl Into<WorkloadSpec>,
        settings: Settings,
    ) -> (Context, Stopper, Rows) {
        let (stopper, stop) = stop_signal();
        let rows = Rows::default();
        let context = Context {
            parameters: self.parameters(stack, Role::Client, port, workload, settings),
            clock: Arc::new(SystemClock),
            recorder: Box::new(rows.clone()),
            stop,
            ready: Box::new(drop),
            received: Received::default(),
        };
        (context, stopper, rows)
    }

    /// Rows of a workload between the built-in client and server.
    pub async fn exchange(
        &self,
        stack: &str,
        workload: impl Into<WorkloadSpec>,
        settings: Settings<'_>,
    ) -> Vec<Exchange> {
        let workload = workload.into();
        let server = self.serve(stack, workload.clone(), settings).await;
        let rows = self.run_client(stack, server.port, workload, settings).await.expect("the client does its work");
        server.stop().await;
        rows
    }

    /// The same of a workload with changes, in which a stack with a broker has a publisher, started when the client is ready.
    pub async fn listen(
        &self,
        stack: &str,
        workload: impl Into<WorkloadSpec>,
        settings: Settings<'_>,
    ) -> Vec<Exchange> {
        let workload = workload.into();
        let server = self.serve(stack, workload.clone(), settings).await;
        let (mut client, stopper, rows) = self.client_context(stack, server.port, workload.clone(), settings);
        let (sender, ready) = oneshot::channel();
        client.ready = Box::new(|_| sender.send(()).expect("the test waits"));
        let client = tokio::spawn(wirelab_stacks::run(client));
        tokio::time::timeout(PATIENCE, ready).await.expect("in time").expect("all subscribers wait");
        let publisher = find(stack).expect("registered").descriptor().roles.contains(&Role::Publisher).then(|| {
            let (mut context, stopper, _) = self.client_context(stack, server.port, workload, settings);
            context.parameters.role = Role::Publisher;
            (tokio::spawn(wirelab_stacks::run(context)), stopper)
        });
        let ended = tokio::time::timeout(PATIENCE, client).await.expect("the client ends");
        ended.expect("no panic").expect("the client does its work");
        drop(stopper);
        if let Some((publisher, stopper)) = publisher {
            stopper.stop();
            let ended = tokio::time::timeout(PATIENCE, publisher).await.expect("the publisher ends when stopped");
            ended.expect("no panic").expect("a clean end");
        }
        server.stop().await;
        let mut rows = rows.taken();
        rows.sort_by_key(|row| (row.client, row.index));
        rows
    }
}

/// A running server.
pub struct Server {
    /// Where it listens.
    pub port: u16,
    stopper: Stopper,
    task: JoinHandle<Result<(), StackError>>,
}

impl Server {
    /// Asks it to end and waits until it has.
    pub async fn stop(self) {
        self.stopper.stop();
        let ended = tokio::time::timeout(PATIENCE, self.task).await.expect("the server ends when stopped");
        ended.expect("no panic").expect("a clean end");
    }

    /// Ends it without a word to its clients.
    pub fn vanish(self) {
        self.task.abort();
    }
}

/// Keeps exchanges, and the resources of page loads, in memory.
#[derive(Clone, Default)]
pub struct Rows {
    exchanges: Arc<Mutex<Vec<Exchange>>>,
    resources: Arc<Mutex<Vec<ResourceTiming>>>,
}

impl Rows {
    /// Until one is recorded, however slow the machine.
    pub async fn first(&self) {
        let recorded = async {
            while self.taken().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, recorded).await.expect("an exchange in time");
    }

    /// Those recorded so far.
    pub fn taken(&self) -> Vec<Exchange> {
        self.exchanges.lock().expect("unpoisoned").clone()
    }

    /// The resources recorded so far.
    pub fn resources(&self) -> Vec<ResourceTiming> {
        self.resources.lock().expect("unpoisoned").clone()
    }
}

impl Recorder for Rows {
    fn record(&mut self, exchange: Exchange) -> Result<(), StackError> {
        self.exchanges.lock().expect("unpoisoned").push(exchange);
        Ok(())
    }

    fn record_resource(&mut self, resource: ResourceTiming) -> Result<(), StackError> {
        self.resources.lock().expect("unpoisoned").push(resource);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StackError> {
        Ok(())
    }
}

/// Sequential exchanges on new connections, with a time-out that none should reach.
pub fn workload(upload_bytes: u64, download_bytes: u64, exchanges: u32) -> RequestResponse {
    RequestResponse {
        upload_bytes,
        download_bytes: download_bytes.into(),
        exchanges,
        clients: 1,
        arrival: ArrivalSpec::Closed,
        concurrency: 1,
        timeout_ns: 30_000_000_000,
        connection: ConnectionPolicy::New,
        device: None,
        retry: None,
        request: None,
    }
}

/// Requests with empty answers as deliveries, for a stack that has no others.
fn as_done_by(stack: &str, workload: WorkloadSpec) -> WorkloadSpec {
    let does =
        |kind: &str| find(stack).is_none_or(|stack| stack.descriptor().workloads.iter().any(|known| known == kind));
    match workload {
        WorkloadSpec::RequestResponse(work) if !does(REQUEST_RESPONSE) && work.download_bytes.largest() == 0 => {
            deliver(work).into()
        }
        other => other,
    }
}

/// The upload of each exchange as a reading.
pub fn deliver(work: RequestResponse) -> Telemetry {
    let RequestResponse { upload_bytes, exchanges, clients, arrival, concurrency, timeout_ns, connection, .. } = work;
    Telemetry {
        message_bytes: upload_bytes,
        exchanges,
        clients,
        arrival,
        concurrency,
        timeout_ns,
        connection,
        device: None,
        retry: None,
        publish: None,
    }
}

/// The same on persistent connections.
pub fn kept(connections: u32, workload: RequestResponse) -> RequestResponse {
    RequestResponse { connection: ConnectionPolicy::Persistent { connections }, ..workload }
}

fn write_certificates(folder: &Path) {
    let authority_key = KeyPair::generate().expect("a key");
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_certificate = authority.self_signed(&authority_key).expect("a certificate");
    let issuer = Issuer::new(authority, authority_key);
    let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("written");
    write("authority.pem", authority_certificate.pem());
    for (chain_file, key_file) in [("chain.pem", "key.pem"), ("client-chain.pem", "client-key.pem")] {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["server.test".to_owned()]).expect("a name");
        write(chain_file, params.signed_by(&key, &issuer).expect("a certificate").pem());
        write(key_file, key.serialize_pem());
    }
}

/// How often the message of a row came.
pub fn copies(row: &Exchange) -> Option<u32> {
    row.message().and_then(|columns| columns.copies)
}
