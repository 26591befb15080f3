//! Echo requests as background traffic. Round trips are not measured.

use std::cell::RefCell;
use std::future::Future;
use std::net::IpAddr;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{join, join_all};
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
    /// Between two requests of one flow.
    pub interval: Duration,
    /// How many side by side, evenly spread over the interval.
    pub flows: u16,
}

/// One flow's socket, also the key of its readiness, and its account.
struct Flood {
    echo: EchoSocket,
    readable: UdpSocket,
    account: RefCell<TrafficFlow>,
}

impl Pings {
    /// Until `end`. A request that the kernel refuses is not sent, and the next one comes at its own instant.
    pub async fn run(self, ready: impl FnOnce(), end: impl Future) -> anyhow::Result<Vec<TrafficFlow>> {
        let floods = (0..self.flows).map(|identifier| self.open(identifier)).collect::<anyhow::Result<Vec<_>>>()?;
        ready();
        let begin_ns = SystemClock.now_ns();
        let interval_ns = self.interval.as_nanos() as u64;
        let flows = (0u64..).zip(&floods).map(|(index, flood)| {
            let first_ns = begin_ns + interval_ns * index / u64::from(self.flows);
            join(self.send(flood, first_ns), receive(flood))
        });
        tokio::select! {
            _ = end => {}
            _ = join_all(flows) => {}
        }
        Ok(floods.into_iter().map(|flood| flood.account.into_inner()).collect())
    }

    fn open(&self, identifier: u16) -> anyhow::Result<Flood> {
        let echo = EchoSocket::open(self.to, identifier)?;
        let readable = echo.socket().try_clone().and_then(UdpSocket::from_std).context("waiting for answers")?;
        Ok(Flood { echo, readable, account: RefCell::default() })
    }

    async fn send(&self, flood: &Flood, first_ns: u64) {
        let mut at_ns = first_ns;
        for sequence in (0..=u16::MAX).cycle() {
            SystemClock.sleep_until(at_ns).await;
            if flood.echo.request(sequence, self.payload).is_ok() {
                flood.account.borrow_mut().sent_bytes += self.payload as u64;
            }
            at_ns += self.interval.as_nanos() as u64;
            // Otherwise one that is always late would never let answers be read.
            tokio::task::yield_now().await;
        }
    }
}

async fn receive(flood: &Flood) {
    let mut buffer = vec![0; LONGEST];
    while flood.readable.readable().await.is_ok() {
        // An error tells of a request, such as one to a host that is not there.
        let answer = flood.readable.try_io(Interest::READABLE, || flood.echo.receive(&mut buffer));
        flood.account.borrow_mut().received_bytes += answer.ok().flatten().unwrap_or(0) as u64;
    }
}
