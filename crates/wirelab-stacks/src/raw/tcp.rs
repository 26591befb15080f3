//! Echo over TCP: the reference for protocols that run over TCP. It is not an application protocol.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::{BoxFuture, try_join};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wirelab_schema::{Exchange, Role};

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::description;
use crate::base::settings::Settings;
use crate::transport::socket::{self, Socket, TcpOptions};
use crate::transport::stream::{Dialer, Stream, serve};
use crate::workload::{Client, REQUEST_RESPONSE, TELEMETRY, Work, drive};
use crate::{Clock, Context, Descriptor, Payload, Stack, StackError};

/// Echo over TCP: the floor under every stack that runs over TCP.
pub struct RawTcp;

impl Stack for RawTcp {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "raw-tcp".to_owned(),
            title: "Echo over TCP".to_owned(),
            about: "No application protocol: the server sends back every byte as it comes (RFC 862), so a response is as long as its request \
                    whatever `download_bytes` says. The reference for every protocol over TCP. An exchange of 0 bytes ends when connected."
                .to_owned(),
            libraries: description::libraries(&["tokio"]),
            transport: "tcp".to_owned(),
            default_port: 7007,
            secure: false,
            echo: true,
            http_version: None,
            success: None,
            topics: None,
            timing: description::over_tcp(false),
            roles: vec![Role::Client, Role::Server],
            workloads: [REQUEST_RESPONSE, TELEMETRY].map(str::to_owned).into(),
            waits: vec![],
            settings: socket::tcp_settings().to_vec(),
        }
    }

    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>> {
        let descriptor = self.descriptor();
        Box::pin(async move {
            let tcp = TcpOptions::of(&Settings::resolve(&descriptor, &context.parameters.settings)?);
            match role {
                Role::Server => serve(context, tcp, None, echo).await,
                Role::Client => {
                    let upload_bytes = Work::exchanges(&context.parameters.workload).upload_bytes;
                    let message = Payload::new(context.parameters.seed).bytes(upload_bytes as usize);
                    let client = |context: &Context, _| {
                        Ok(RawTcpClient {
                            dialer: Dialer::new(&context.parameters, tcp, None)?,
                            message: message.clone(),
                            clock: context.clock.clone(),
                        })
                    };
                    drive(context, client).await
                }
                role => Err(StackError::no_role(&descriptor, role)),
            }
        })
    }
}

struct RawTcpClient {
    dialer: Dialer,
    message: Bytes,
    clock: Arc<dyn Clock>,
}

impl Client for RawTcpClient {
    type Connection = Socket;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Socket, ExchangeError> {
        Ok(self.dialer.dial(attempt).await?.0)
    }

    async fn exchange(&self, connection: &mut Socket, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        if attempt.exchange.connection_reused {
            connection.observe(attempt);
        }
        let exchange = Mutex::new(&mut attempt.exchange);
        let stamp = |stamp: &dyn Fn(&mut Exchange, Option<u64>)| {
            if self.clock.measures() {
                stamp(&mut exchange.lock().expect("no holder panics"), Some(self.clock.now_ns()));
            }
        };
        let (mut writer, mut reader) = (connection.clone(), connection.clone());
        let send = async {
            let mut left = &self.message[..];
            if !left.is_empty() {
                stamp(&|exchange, now_ns| {
                    exchange.request_start_ns = now_ns;
                    exchange.first_body_sent_ns = now_ns;
                });
            }
            while !left.is_empty() {
                let length = writer.write(left).await?;
                left = &left[length..];
                stamp(&|exchange, _| exchange.body_sent_bytes += length as u64);
            }
            Ok(())
        };
        let receive = async {
            let mut left = &self.message[..];
            let mut buffer = vec![0; 64 * 1024];
            while !left.is_empty() {
                let length = reader.read(&mut buffer).await?;
                if length == 0 {
                    return Err(ExchangeError::new("the server closed the connection"));
                }
                left = left
                    .strip_prefix(&buffer[..length])
                    .ok_or_else(|| ExchangeError::new("the echo differs from what was sent"))?;
                stamp(&|exchange, now_ns| {
                    exchange.first_response_byte_ns = exchange.first_response_byte_ns.or(now_ns);
                    exchange.first_final_byte_ns = exchange.first_response_byte_ns;
                    exchange.body_received_bytes += length as u64;
                });
            }
            Ok(())
        };
        try_join(send, receive).await.map(drop)
    }

    fn is_usable(&self, _connection: &Socket) -> bool {
        true
    }

    async fn close(&self, mut connection: Socket) {
        // Only what the kernel has already given up fails here.
        let _ = connection.shutdown().await;
    }
}

async fn echo(stream: Box<dyn Stream>) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    // A connection that breaks is the client's to report.
    let _ = tokio::io::copy(&mut reader, &mut writer).await;
    let _ = writer.shutdown().await;
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use serde_json::json;
    use tokio::net::TcpStream;
    use wirelab_schema::WorkloadSpec;

    use super::super::testing::Watching;
    use super::*;
    use crate::SystemClock;
    use crate::recorder::NoRecorder;
    use crate::workload::virtual_time::context;

    #[tokio::test]
    async fn a_request_starts_before_its_first_byte_is_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a server");
        let address = listener.local_addr().expect("an address");
        let mut attempt = Attempt::start(Arc::new(SystemClock), 0, None);
        let mut connection = Socket::connect(address, TcpOptions::default(), &mut attempt).await.expect("connected");
        let (server, _) = listener.accept().expect("accepted");
        let clock = Arc::new(Watching(server.try_clone().expect("a handle").into()));
        server.set_nonblocking(true).expect("a mode");
        let echo = echo(Box::new(TcpStream::from_std(server).expect("a stream")));
        let workload: WorkloadSpec = serde_json::from_value(json!({
            "kind": "telemetry", "message_bytes": 5, "exchanges": 1, "arrival": {"process": "closed"}, "concurrency": 1,
            "timeout_ns": 1, "connection": {"policy": "new"},
        }))
        .expect("a workload");
        let (context, _stopper) = context(workload, NoRecorder);
        let client = RawTcpClient {
            dialer: Dialer::new(&context.parameters, TcpOptions::default(), None).expect("a dialer"),
            message: Bytes::from_static(b"hello"),
            clock: clock.clone(),
        };
        let mut attempt = Attempt::start(clock, 0, None);
        tokio::select! {
            exchanged = client.exchange(&mut connection, &mut attempt) => exchanged.expect("the echo came"),
            () = echo => panic!("the echo ended first"),
        }
        assert_eq!((attempt.exchange.request_start_ns, attempt.exchange.first_body_sent_ns), (Some(1), Some(1)));
    }
}
