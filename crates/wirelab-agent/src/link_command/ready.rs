//! Whether a server behind a link listens, as `/proc` shows it. It sends no packet.

use std::fmt;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

/// `st` of a socket that listens, and of a datagram socket that anybody may send to (`/proc/net/tcp`, `/proc/net/udp`).
const LISTENING: &str = "0A";
const UNCONNECTED: &str = "07";
const PATIENCE: Duration = Duration::from_secs(30);

/// When a server is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ready {
    /// It listens on a TCP or a UDP port.
    #[default]
    Listens,
    /// It listens on this TCP port.
    Tcp(u16),
    /// It has this UDP port.
    Udp(u16),
    /// So long after its start.
    After(Duration),
}

/// How far a server has come, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// The server does not listen yet.
    Nothing,
    /// It is there, but on loopback alone, where nobody else reaches it.
    Loopback(SocketAddr),
    /// It is ready.
    Ready,
}

impl Ready {
    /// How far the server in the network namespace of this thread has come.
    pub fn look(self, since_start: Duration) -> Progress {
        let (tables, port) = match self {
            Self::Listens => (&[("tcp", LISTENING), ("udp", UNCONNECTED)][..], None),
            Self::Tcp(port) => (&[("tcp", LISTENING)][..], Some(port)),
            Self::Udp(port) => (&[("udp", UNCONNECTED)][..], Some(port)),
            Self::After(time) if since_start >= time => return Progress::Ready,
            Self::After(_) => return Progress::Nothing,
        };
        let families = |(transport, state): &(&str, &'static str)| {
            ["", "6"].map(|family| (format!("/proc/thread-self/net/{transport}{family}"), *state))
        };
        let progress = tables.iter().flat_map(families).map(|(path, state)| {
            let table = fs::read_to_string(path).unwrap_or_default();
            progress_of(&table, state, port)
        });
        progress.max().unwrap_or(Progress::Nothing)
    }

    /// True if it says by itself how long it takes.
    pub fn is_a_time(self) -> bool {
        matches!(self, Self::After(_))
    }

    /// How long to wait for it.
    pub fn patience(self) -> Duration {
        match self {
            Self::After(time) => time + PATIENCE,
            _ => PATIENCE,
        }
    }
}

impl fmt::Display for Ready {
    /// What is missing when it does not hold.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listens => formatter.write_str("it listens on no port that the other end can reach"),
            Self::Tcp(port) => {
                write!(formatter, "it does not listen on TCP port {port} where the other end can reach it")
            }
            Self::Udp(port) => write!(formatter, "it does not have UDP port {port} where the other end can reach it"),
            Self::After(time) => write!(formatter, "it is not {time:?} old"),
        }
    }
}

impl FromStr for Ready {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not tcp:PORT, udp:PORT or a number of seconds");
        let port = |number: &str| number.parse().map_err(|_| wrong());
        match text.split_once(':') {
            Some(("tcp", number)) => Ok(Self::Tcp(port(number)?)),
            Some(("udp", number)) => Ok(Self::Udp(port(number)?)),
            Some(_) => Err(wrong()),
            None => {
                let seconds = text.parse().map_err(|_| wrong())?;
                Ok(Self::After(Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?))
            }
        }
    }
}

/// How far a server has come, by a table of the kernel with sockets in a state. Columns: number, local address and port, remote ones, state.
fn progress_of(table: &str, state: &str, port: Option<u16>) -> Progress {
    let sockets = table.lines().skip(1).filter_map(|line| {
        let columns: Vec<_> = line.split_whitespace().take(4).collect();
        let local = columns.get(1).and_then(|local| parse_local(local))?;
        (columns.get(3) == Some(&state) && port.is_none_or(|port| port == local.port())).then_some(local)
    });
    let reach = |local: SocketAddr| {
        if local.ip().to_canonical().is_loopback() { Progress::Loopback(local) } else { Progress::Ready }
    };
    sockets.map(reach).max().unwrap_or(Progress::Nothing)
}

/// Hexadecimal words of the address as the processor has them, a colon, the port.
fn parse_local(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let address = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(8 * index)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(address: [u8; 4], port: u16, state: &str) -> String {
        let address = u32::from_ne_bytes(address);
        format!(
            "  sl  local_address rem_address   st tx_queue\n   0: {address:08X}:{port:04X} 00000000:0000 {state} 00\n"
        )
    }

    #[test]
    fn a_port_is_open_in_the_right_state_only() {
        let listening = table([0, 0, 0, 0], 8080, LISTENING);
        assert_eq!([Some(8080), None].map(|port| progress_of(&listening, LISTENING, port)), [Progress::Ready; 2]);
        assert_eq!(progress_of(&listening, LISTENING, Some(80)), Progress::Nothing);
        assert_eq!(progress_of(&table([10, 77, 0, 2], 8080, "01"), LISTENING, Some(8080)), Progress::Nothing);
        assert_eq!(progress_of("  sl  local_address rem_address   st\n", LISTENING, None), Progress::Nothing);
    }

    #[test]
    fn a_server_that_listens_on_loopback_only_is_not_ready() {
        let at = |address: &str| Progress::Loopback(address.parse().unwrap());
        let alone = table([127, 0, 0, 1], 1883, LISTENING);
        assert_eq!(progress_of(&alone, LISTENING, None), at("127.0.0.1:1883"));
        assert_eq!(progress_of(&alone, LISTENING, Some(8883)), Progress::Nothing);
        let too = format!("{alone}{}", table([0; 4], 8883, LISTENING).lines().nth(1).unwrap());
        assert_eq!(progress_of(&too, LISTENING, None), Progress::Ready);
        let v6 = Ipv6Addr::LOCALHOST.octets();
        let words = v6.chunks_exact(4).map(|part| format!("{:08X}", u32::from_ne_bytes(part.try_into().unwrap())));
        let line = format!("header\n 0: {}:075B 0:0 0A\n", words.collect::<String>());
        assert_eq!(progress_of(&line, LISTENING, None), at("[::1]:1883"));
        let any = format!("header\n 0: {}:075B 0:0 0A\n", "0".repeat(32));
        assert_eq!(progress_of(&any, LISTENING, Some(1883)), Progress::Ready);
    }

    #[test]
    fn conditions_are_read_as_people_write_them() {
        assert_eq!("tcp:1883".parse(), Ok(Ready::Tcp(1883)));
        assert_eq!("udp:5683".parse(), Ok(Ready::Udp(5683)));
        assert_eq!("1.5".parse(), Ok(Ready::After(Duration::from_millis(1500))));
        for wrong in ["tcp:70000", "sctp:1", "-1", "soon", "nan"] {
            assert!(wrong.parse::<Ready>().is_err(), "{wrong}");
        }
    }
}
