//! Bulk transfers over TCP as background traffic. Their exchanges are not measured.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::join_all;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::channel;
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};
use wirelab_schema::TrafficFlow;

/// The first byte of a connection says which way its others go.
const UPLOAD: u8 = b'u';
const DOWNLOAD: u8 = b'd';
const CHUNK_BYTES: usize = 64 << 10;
/// After a connection broke, or could not be made.
const PAUSE: Duration = Duration::from_millis(500);
/// After this long the background counts as there, though not every flow is connected: on a bad link some may take very long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Flows that a client keeps up.
pub struct Bulk {
    pub to: SocketAddr,
    pub flows: u32,
    pub upload: bool,
    /// Each flow begins at an instant drawn from this.
    pub stagger: Duration,
    pub seed: u64,
}

type Account = Rc<RefCell<TrafficFlow>>;

impl Bulk {
    /// Until `end`. `ready` is called when all flows are connected, or could have been.
    pub async fn run(self, ready: impl FnOnce(), end: impl Future) -> Vec<TrafficFlow> {
        let accounts: Vec<Account> = (0..self.flows).map(|_| Account::default()).collect();
        // Every flow holds a sender until it is connected.
        let (connected, mut all_connected) = channel::<Infallible>(1);
        let flows = accounts.iter().zip(self.begins()).map(|(account, begin)| {
            let connected = connected.clone();
            let bulk = &self;
            async move {
                sleep(begin).await;
                let mut connected = Some(connected);
                loop {
                    // A flow that broke begins anew: the link must stay as busy as configured.
                    let _ = bulk.transfer(account, || drop(connected.take())).await;
                    sleep(PAUSE).await;
                }
            }
        });
        let flows = join_all(flows);
        drop(connected);
        let tell = async {
            let _ = timeout(self.stagger + PATIENCE, all_connected.recv()).await;
            ready();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = end => {}
            _ = flows => {}
            () = tell => {}
        }
        settled(&accounts)
    }

    async fn transfer(&self, account: &Account, connected: impl FnOnce()) -> io::Result<()> {
        let mut stream = TcpStream::connect(self.to).await?;
        account.borrow_mut().connections += 1;
        connected();
        let way = if self.upload { UPLOAD } else { DOWNLOAD };
        stream.write_all(&[way]).await?;
        if self.upload { send(&mut stream, account).await } else { receive(&mut stream, account).await }
    }

    fn begins(&self) -> impl Iterator<Item = Duration> + use<> {
        let (mut generator, stagger) = (ChaCha8Rng::seed_from_u64(self.seed), self.stagger);
        std::iter::repeat_with(move || stagger.mul_f64(f64::from(generator.next_u32()) / 2f64.powi(32)))
    }
}

/// Take part in the transfers of any client until `end`. `ready` is called when connections may come.
pub async fn serve(at: SocketAddr, ready: impl FnOnce(), end: impl Future) -> anyhow::Result<Vec<TrafficFlow>> {
    let listener = TcpListener::bind(at).await.with_context(|| format!("listening at {at}"))?;
    ready();
    let accounts = RefCell::new(Vec::new());
    let connections = LocalSet::new();
    let accept = connections.run_until(async {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let account = Account::default();
            accounts.borrow_mut().push(account.clone());
            // If it breaks, the client reconnects.
            tokio::task::spawn_local(async move { drop(answer(stream, &account).await) });
        }
    });
    tokio::select! {
        () = accept => {}
        _ = end => {}
    }
    Ok(settled(&accounts.borrow()))
}

async fn answer(mut stream: TcpStream, account: &Account) -> io::Result<()> {
    match stream.read_u8().await? {
        DOWNLOAD => send(&mut stream, account).await,
        _ => receive(&mut stream, account).await,
    }
}

async fn send(stream: &mut TcpStream, account: &Account) -> io::Result<()> {
    let chunk = vec![0; CHUNK_BYTES];
    loop {
        account.borrow_mut().sent_bytes += stream.write(&chunk).await? as u64;
    }
}

async fn receive(stream: &mut TcpStream, account: &Account) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match stream.read(&mut chunk).await? {
            0 => return Ok(()),
            length => account.borrow_mut().received_bytes += length as u64,
        }
    }
}

fn settled(accounts: &[Account]) -> Vec<TrafficFlow> {
    accounts.iter().map(|account| account.borrow().clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(seed: u64, stagger_ms: u64) -> Bulk {
        let to = "127.0.0.1:1".parse().unwrap();
        Bulk { to, flows: 3, upload: true, stagger: Duration::from_millis(stagger_ms), seed }
    }

    #[test]
    fn flows_begin_at_instants_of_their_own_that_follow_from_the_seed() {
        let begins = |seed| bulk(seed, 1000).begins().take(20).collect::<Vec<_>>();
        assert_eq!(begins(1), begins(1));
        assert_ne!(begins(1), begins(2));
        assert!(begins(1).iter().all(|begin| *begin < Duration::from_secs(1)));
        assert!(begins(1).windows(2).all(|pair| pair[0] != pair[1]));
        assert!(bulk(1, 0).begins().take(3).all(|begin| begin.is_zero()));
    }

    /// Both ends of some flows on the loopback interface, until a megabyte has come through each.
    fn transferred(upload: bool) -> [Vec<TrafficFlow>; 2] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let at = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let (stop, stopped) = tokio::sync::watch::channel(());
            let end = |mut stopped: tokio::sync::watch::Receiver<()>| async move { drop(stopped.changed().await) };
            let server = serve(at, || (), end(stopped.clone()));
            let client = Bulk { to: at, upload, ..bulk(1, 10) }.run(|| (), end(stopped));
            let stopper = async {
                sleep(Duration::from_millis(300)).await;
                drop(stop);
            };
            let (server, client, ()) = tokio::join!(server, client, stopper);
            [server.unwrap(), client]
        })
    }

    #[test]
    fn bytes_of_either_direction_are_counted_where_they_arrive() {
        for upload in [true, false] {
            let [server, client] = transferred(upload);
            assert_eq!((server.len(), client.len()), (3, 3));
            let (sender, receiver) = if upload { (&client, &server) } else { (&server, &client) };
            let sum = |flows: &[TrafficFlow], of: fn(&TrafficFlow) -> u64| flows.iter().map(of).sum::<u64>();
            let (sent, received) = (sum(sender, |flow| flow.sent_bytes), sum(receiver, |flow| flow.received_bytes));
            assert!(0 < received && received <= sent, "{received} of {sent}");
            assert!(client.iter().all(|flow| flow.connections == 1));
            assert_eq!(sum(sender, |flow| flow.received_bytes) + sum(receiver, |flow| flow.sent_bytes), 0);
        }
    }
}
