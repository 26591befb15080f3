use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UdpSocket;
use wirelab_net::icmp::EchoSocket;
use wirelab_schema::TrafficFlow;
use wirelab_stacks::{Clock, SystemClock};

/// The longest IP packet.
const LONGEST: usize = 1 << 16;

/// Echo requests to one host.
pub struct Pings {
    pub to: IpAddr,
    /// Bytes of a request's payload.
    pub payload: usize,
    pub interval: Duration,
    pub identifier: u16,
}

impl Pings {
    /// Until `end`. A request that the kernel refuses is not sent, and the next one comes at its own instant.
    pub async fn run(self, ready: impl FnOnce(), end: impl Future) -> anyhow::Result<TrafficFlow> {
        let echo = EchoSocket::open(self.to, self.identifier)?;
        let socket = UdpSocket::from_std(echo.socket().try_clone()?)?;
        let (mut sent, mut received) = (0, 0);
        ready();
        let send = async {
            let mut at_ns = SystemClock.now_ns();
            for sequence in (0..=u16::MAX).cycle() {
                if echo.request(sequence, self.payload).is_ok() {
                    sent += self.payload as u64;
                }
                at_ns += self.interval.as_nanos() as u64;
                SystemClock.sleep_until(at_ns).await;
                // Otherwise one that is always late would never let answers be read.
                tokio::task::yield_now().await;
            }
        };
        let receive = async {
            let mut buffer = vec![0; LONGEST];
            loop {
                socket.readable().await?;
                // An error tells of a request, such as of a host that is not there.
                let answer = socket.try_io(Interest::READABLE, || echo.receive(&mut buffer));
                received += answer.ok().flatten().unwrap_or(0) as u64;
            }
        };
        let received_all: io::Result<()> = tokio::select! {
            _ = end => Ok(()),
            () = send => Ok(()),
            ended = receive => ended,
        };
        received_all?;
        Ok(TrafficFlow { sent_bytes: sent, received_bytes: received, connections: 0 })
    }
}
