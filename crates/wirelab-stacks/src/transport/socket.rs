//! TCP sockets that can be asked about while a library owns them. It sends nothing of its own.

use std::io::{self, IoSlice};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::GetStruct;
use socket2::{Domain, Protocol, SockRef, TcpKeepalive, Type};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use wirelab_schema::SettingDescription;

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings::{self, Settings};

/// A TCP connection that can still be asked about while a protocol library owns it: clones are handles to one socket.
#[derive(Clone)]
pub struct Socket(Arc<Connection>);

struct Connection {
    stream: TcpStream,
    local_port: OnceLock<Option<u16>>,
    /// What TCP_INFO had counted when an exchange on it last ended.
    retransmissions: AtomicU32,
}

impl Socket {
    fn new(stream: TcpStream) -> Self {
        Socket(Arc::new(Connection { stream, local_port: OnceLock::new(), retransmissions: AtomicU32::new(0) }))
    }

    /// Connects to `server`, stamping the phase. Retransmissions are counted from the first SYN on, also if this is given up.
    pub async fn connect(
        server: SocketAddr,
        options: TcpOptions,
        attempt: &mut Attempt,
    ) -> Result<Self, ExchangeError> {
        let socket = socket2::Socket::new(Domain::for_address(server), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        options.apply(&socket)?;
        match socket.connect(&server.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error.into()),
            _ => {}
        }
        let socket = Socket::new(TcpStream::from_std(socket.into())?);
        socket.observe(attempt);
        socket.0.stream.writable().await?;
        if let Some(error) = socket.0.stream.take_error()? {
            return Err(error.into());
        }
        attempt.exchange.tcp_connect_ns = attempt.now();
        Ok(socket)
    }

    /// A connection that a server accepted.
    pub fn accepted(stream: TcpStream, options: TcpOptions) -> io::Result<Self> {
        stream.set_nodelay(!options.nagle)?;
        Ok(Socket::new(stream))
    }

    /// Its address on this side.
    pub fn local_address(&self) -> io::Result<IpAddr> {
        self.0.stream.local_addr().map(|address| address.ip())
    }

    /// Has the exchange record this connection's port and, at its end, what TCP_INFO says happened since the last one on it ended, so that those
    /// that follow one another count everything once. Exchanges that overlap on one connection each count what happened to any of them.
    pub fn observe(&self, attempt: &mut Attempt) {
        if !attempt.measures() {
            return;
        }
        let local_port = || self.0.stream.local_addr().ok().map(|address| address.port());
        attempt.exchange.local_port = *self.0.local_port.get_or_init(local_port);
        let before = self.0.retransmissions.load(Ordering::Relaxed);
        let socket = self.clone();
        attempt.at_end(move |exchange| {
            if let Some(info) = socket.tcp_info() {
                socket.0.retransmissions.store(info.total_retransmissions, Ordering::Relaxed);
                exchange.client_retransmissions = Some(info.total_retransmissions.saturating_sub(before));
                exchange.smoothed_rtt_ns = (info.smoothed_rtt_us > 0).then(|| u64::from(info.smoothed_rtt_us) * 1_000);
            }
        });
    }

    /// Reads to the end, or for as long as this is polled, and forgets what it reads.
    pub async fn drain(mut self) {
        let mut buffer = [0; 512];
        while let Ok(1..) = self.read(&mut buffer).await {}
    }

    fn tcp_info(&self) -> Option<TcpInfo> {
        let words = getsockopt(&self.0.stream, TcpInfoWords).ok()?;
        Some(TcpInfo { smoothed_rtt_us: words[17], total_retransmissions: words[25] })
    }
}

/// What stacks over TCP ask of the kernel. The default is that of the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    nagle: bool,
    keep_alive: Option<Duration>,
    user_timeout: Option<Duration>,
}

impl TcpOptions {
    /// As the settings say, which are those of [`tcp_settings`].
    pub fn of(settings: &Settings) -> Self {
        let given = |name| Some(settings.integer(name) as u64).filter(|number| *number > 0);
        TcpOptions {
            nagle: settings.boolean("nagle"),
            keep_alive: given("tcp-keep-alive").map(Duration::from_secs),
            user_timeout: given("tcp-user-timeout").map(Duration::from_millis),
        }
    }

    /// To a client's socket that is not yet connected.
    fn apply(self, socket: &socket2::Socket) -> io::Result<()> {
        socket.set_tcp_nodelay(!self.nagle)?;
        if let Some(silence) = self.keep_alive {
            let probes = TcpKeepalive::new().with_time(silence).with_interval(silence).with_retries(KEEP_ALIVE_PROBES);
            socket.set_tcp_keepalive(&probes)?;
        }
        if self.user_timeout.is_some() {
            socket.set_tcp_user_timeout(self.user_timeout)?;
        }
        Ok(())
    }
}

/// Probes without an answer after which the kernel ends a connection.
const KEEP_ALIVE_PROBES: u32 = 3;

/// Settings of stacks over TCP.
pub fn tcp_settings() -> [SettingDescription; 3] {
    [
        settings::boolean(
            "nagle",
            false,
            "Both ends leave Nagle's algorithm on (RFC 9293, section 3.7.4): a small segment waits while another is unacknowledged. Off sets \
             TCP_NODELAY.",
        ),
        settings::integer(
            "tcp-keep-alive",
            (0, 32_767),
            "s",
            0,
            "Keep-alives of the client (RFC 9293, section 3.8.4): after so long without traffic its kernel sends a probe, and then one each time as \
             long again. Three probes without an answer end the connection. 0 turns them off.",
        ),
        settings::integer(
            "tcp-user-timeout",
            (0, settings::LONGEST_MS),
            "ms",
            0,
            "User time-out of the client (RFC 9293, section 3.9.1, as TCP_USER_TIMEOUT): data that is not acknowledged for so long ends the \
             connection. 0 leaves it to the kernel, which retransmits for about 15 minutes.",
        ),
    ]
}

/// A listening socket on `address`; port 0 takes a free one.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    TcpListener::from_std(socket.into())
}

/// What is used of `struct tcp_info` (linux/tcp.h).
struct TcpInfo {
    smoothed_rtt_us: u32,
    total_retransmissions: u32,
}

/// The first 104 bytes of `struct tcp_info`, which every kernel since 2.6 has: 8 bytes of small fields, then words, of which the 17th of the
/// whole is `tcpi_rtt` and the 25th `tcpi_total_retrans`. libc's struct grows with new kernels and is refused by older ones.
#[derive(Clone, Copy)]
struct TcpInfoWords;

nix::getsockopt_impl!(TcpInfoWords, libc::IPPROTO_TCP, libc::TCP_INFO, [u32; 26], GetStruct<[u32; 26]>);

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.stream.poll_read_ready(cx))?;
            match self.0.stream.try_read(buffer.initialize_unfilled()) {
                Ok(length) => {
                    buffer.advance(length);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.stream.poll_write_ready(cx))?;
            match self.0.stream.try_write_vectored(slices) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.0.stream).shutdown(Shutdown::Write))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::SystemClock;

    #[tokio::test]
    async fn tcp_info_has_the_round_trip_of_a_connection_that_a_library_owns() {
        let listener = listen(([127, 0, 0, 1], 0).into()).expect("listening");
        let server = listener.local_addr().expect("bound");
        let mut attempt = Attempt::start(Arc::new(SystemClock), 0, None);
        let mut socket = Socket::connect(server, TcpOptions::default(), &mut attempt).await.expect("connected");
        let (mut peer, _) = listener.accept().await.expect("accepted");
        socket.write_all(b"ping").await.expect("written");
        let mut bytes = [0; 4];
        peer.read_exact(&mut bytes).await.expect("read");
        let exchange = attempt.finish(Ok(()));
        assert_eq!(exchange.client_retransmissions, Some(0));
        // On loopback a smoothed round trip is above 0 and far below a second; words of other fields are not.
        assert!(exchange.smoothed_rtt_ns.is_some_and(|rtt| (1_000..1_000_000_000).contains(&rtt)), "{exchange:?}");
        assert!(exchange.local_port.is_some() && exchange.tcp_connect_ns.is_some());
    }

    #[tokio::test]
    async fn an_exchange_counts_from_where_the_last_one_on_its_connection_ended() {
        let listener = listen(([127, 0, 0, 1], 0).into()).expect("listening");
        let server = listener.local_addr().expect("bound");
        let mut first = Attempt::start(Arc::new(SystemClock), 0, None);
        let socket = Socket::connect(server, TcpOptions::default(), &mut first).await.expect("connected");
        socket.0.retransmissions.store(7, Ordering::Relaxed);
        let mut second = Attempt::start(Arc::new(SystemClock), 1, None);
        socket.observe(&mut second);
        first.finish(Ok(()));
        assert_eq!(socket.0.retransmissions.load(Ordering::Relaxed), 0, "what TCP_INFO says when the first ends");
        let mut third = Attempt::start(Arc::new(SystemClock), 2, None);
        socket.observe(&mut third);
        assert_eq!(second.finish(Ok(())).client_retransmissions, Some(0), "never below 0");
        let third = third.finish(Ok(()));
        assert_eq!((third.client_retransmissions, third.local_port), (Some(0), socket_port(&socket)));
    }

    fn socket_port(socket: &Socket) -> Option<u16> {
        socket.0.stream.local_addr().ok().map(|address| address.port())
    }

    #[tokio::test]
    async fn a_refused_connection_is_an_error_without_a_connect_phase() {
        let listener = listen(([127, 0, 0, 1], 0).into()).expect("listening");
        let server = listener.local_addr().expect("bound");
        drop(listener);
        let mut attempt = Attempt::start(Arc::new(SystemClock), 0, None);
        assert!(Socket::connect(server, TcpOptions::default(), &mut attempt).await.is_err());
        assert_eq!(attempt.exchange.tcp_connect_ns, None);
    }
}
