//! Echo over TCP: the reference for protocols that run over TCP. It is not an application protocol.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::{BoxFuture, try_join};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wirelab_schema::{Exchange, Role};

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::description;
use crate::base::settings::Settings;
use crate::transport::socket::{self, Socket};
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
            timing: description::over_tcp(false),
            roles: vec![Role::Client, Role::Server],
            workloads: [REQUEST_RESPONSE, TELEMETRY].map(str::to_owned).into(),
            settings: vec![socket::nagle_setting()],
        }
    }

    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>> {
        let descriptor = self.descriptor();
        Box::pin(async move {
            let nagle = Settings::resolve(&descriptor, &context.parameters.settings)?.boolean("nagle");
            match role {
                Role::Server => serve(context, nagle, None, echo).await,
                Role::Client => {
                    let upload_bytes = Work::exchanges(&context.parameters.workload).upload_bytes;
                    let message = Payload::new(context.parameters.seed).bytes(upload_bytes as usize);
                    let client = |context: &Context, _| {
                        Ok(RawTcpClient {
                            dialer: Dialer::new(&context.parameters, nagle, None)?,
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
            while !left.is_empty() {
                let length = writer.write(left).await?;
                left = &left[length..];
                stamp(&|exchange, now_ns| {
                    exchange.request_start_ns = exchange.request_start_ns.or(now_ns);
                    exchange.first_body_sent_ns = exchange.request_start_ns;
                    exchange.body_sent_bytes += length as u64;
                });
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
