//! The mappings of a NAT, in the terms of RFC 4787 (UDP), RFC 5382 (TCP) and RFC 5508 (ICMP).

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::{Carries, Ends, TcpFlags, Transport};
use crate::random::{Generator, Purpose};
use crate::{Instant, Seed};

/// Which remote ends share a mapping, or may send through one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// All of them.
    EndpointIndependent,
    /// Those of one address.
    AddressDependent,
    /// One address and port.
    AddressAndPortDependent,
}

/// What becomes of a TCP segment that has no mapping and opens no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unmapped {
    /// It is dropped without notice.
    Drop,
    /// It is dropped, and its sender gets a reset.
    Reset,
}

/// How a NAT behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Which destinations share a mapping (RFC 4787 section 4.1).
    pub mapping: Dependence,
    /// Which remote ends may send through it (RFC 4787 section 5).
    pub filtering: Dependence,
    /// Idle time after which a mapping of UDP ends, and of all but TCP (RFC 4787, REQ-5).
    pub udp: Duration,
    /// Idle time after which that of a TCP connection ends which opens or closes (RFC 5382, REQ-5).
    pub tcp_transitory: Duration,
    /// Idle time after which that of an established TCP connection ends (RFC 5382, REQ-5).
    pub tcp_established: Duration,
    /// Inbound packets refresh a mapping too (RFC 4787, REQ-6).
    pub inbound_refreshes: bool,
    /// A mapping has its host's own port if that is free (RFC 4787 section 4.2.1).
    pub keeps_ports: bool,
    /// Ports that mappings have otherwise.
    pub ports: RangeInclusive<u16>,
    /// The most mappings at a time.
    pub size: usize,
    /// What becomes of a TCP segment without a mapping.
    pub unmapped: Unmapped,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// An outbound packet leaves from here, an inbound one goes to here.
    Translate(SocketAddr),
    /// It is dropped.
    Drop,
    /// It is dropped, and its sender gets a reset.
    Reset,
}

/// Whose mapping it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    transport: Transport,
    internal: SocketAddr,
    remote: Remote,
}

/// A remote end as far as a dependence tells it from others.
type Remote = (Option<IpAddr>, Option<u16>);

#[derive(Debug)]
struct Mapping {
    external: SocketAddr,
    /// Remote ends that it was used for, as far as filtering tells them apart.
    permitted: HashSet<Remote>,
    used: Instant,
    connection: Connection,
}

/// The mappings. The same packets and the same seed give the same ports.
pub struct Table {
    rules: Rules,
    random: Generator,
    mappings: HashMap<Key, Mapping>,
    /// Whose each external end is: none is shared (RFC 4787, REQ-3).
    external: HashMap<(Transport, SocketAddr), Key>,
}

impl Table {
    /// Without mappings.
    pub fn new(rules: Rules, seed: Seed) -> Self {
        let random = Generator::new(seed, Purpose::Packet);
        Self { rules, random, mappings: HashMap::new(), external: HashMap::new() }
    }

    /// What becomes of a packet from a host inside.
    pub fn outbound(&mut self, transport: Transport, ends: Ends, now: Instant) -> Verdict {
        let Ends { source, destination, carries } = ends;
        let key = self.key(transport, source, destination);
        self.expire(key, now);
        if !self.mappings.contains_key(&key) {
            match carries {
                Carries::Related => return Verdict::Drop,
                Carries::Segment(flags) if !flags.syn => return self.unmapped(flags),
                _ => {}
            }
            let Some(external) = self.allocate(key, now) else { return Verdict::Drop };
            let (permitted, connection) = (HashSet::new(), Connection::default());
            self.external.insert((transport, external), key);
            self.mappings.insert(key, Mapping { external, permitted, used: now, connection });
        }
        let remote = seen(self.rules.filtering, destination);
        let mapping = self.mappings.get_mut(&key).expect("it is there, or was made");
        if carries != Carries::Related {
            mapping.permitted.insert(remote);
            mapping.used = now;
            mapping.connection.hear(Side::Inside, carries);
        }
        Verdict::Translate(mapping.external)
    }

    /// What becomes of a packet from outside.
    pub fn inbound(&mut self, transport: Transport, ends: Ends, now: Instant) -> Verdict {
        let Ends { source, destination, carries } = ends;
        let Some(key) = self.external.get(&(transport, destination)).copied() else { return self.unsolicited(carries) };
        self.expire(key, now);
        let remote = seen(self.rules.filtering, source);
        let Some(mapping) = self.mappings.get_mut(&key) else { return self.unsolicited(carries) };
        if carries == Carries::Related {
            return Verdict::Translate(key.internal);
        }
        if self.rules.filtering != Dependence::EndpointIndependent && !mapping.permitted.contains(&remote) {
            return Verdict::Drop;
        }
        if self.rules.inbound_refreshes {
            mapping.used = now;
        }
        mapping.connection.hear(Side::Outside, carries);
        Verdict::Translate(key.internal)
    }

    /// An inbound SYN is never answered (RFC 5382, REQ-4).
    fn unsolicited(&self, carries: Carries) -> Verdict {
        match carries {
            Carries::Segment(flags) if !flags.syn => self.unmapped(flags),
            _ => Verdict::Drop,
        }
    }

    /// A reset is never answered (RFC 9293 section 3.5.2).
    fn unmapped(&self, flags: TcpFlags) -> Verdict {
        if self.rules.unmapped == Unmapped::Reset && !flags.rst { Verdict::Reset } else { Verdict::Drop }
    }

    fn key(&self, transport: Transport, internal: SocketAddr, remote: SocketAddr) -> Key {
        // What has no ports has one mapping for each host.
        let none = transport == Transport::Other;
        let dependence = if none { Dependence::EndpointIndependent } else { self.rules.mapping };
        Key { transport, internal, remote: seen(dependence, remote) }
    }

    fn timeout(&self, transport: Transport, mapping: &Mapping) -> Duration {
        match transport {
            Transport::Tcp if mapping.connection.is_established() => self.rules.tcp_established,
            Transport::Tcp => self.rules.tcp_transitory,
            Transport::Udp | Transport::Other => self.rules.udp,
        }
    }

    fn has_ended(&self, key: Key, mapping: &Mapping, now: Instant) -> bool {
        now.saturating_since(mapping.used) >= self.timeout(key.transport, mapping)
    }

    fn expire(&mut self, key: Key, now: Instant) {
        if let Some(mapping) = self.mappings.get(&key)
            && self.has_ended(key, mapping, now)
        {
            self.external.remove(&(key.transport, mapping.external));
            self.mappings.remove(&key);
        }
    }

    /// An external end that nobody has; none if the table is full or no port is left.
    fn allocate(&mut self, key: Key, now: Instant) -> Option<SocketAddr> {
        if self.mappings.len() >= self.rules.size {
            let keys: Vec<Key> = self.mappings.keys().copied().collect();
            keys.into_iter().for_each(|key| self.expire(key, now));
            if self.mappings.len() >= self.rules.size {
                return None;
            }
        }
        if key.transport == Transport::Other || (self.rules.keeps_ports && self.is_free(key, key.internal, now)) {
            return Some(key.internal);
        }
        let (first, count) = (*self.rules.ports.start(), self.rules.ports.len() as u64);
        let begin = (self.random.unit() * count as f64) as u64;
        let port = |step| first + ((begin + step) % count) as u16;
        let each = (0..count).map(|step| SocketAddr::new(key.internal.ip(), port(step)));
        each.into_iter().find(|end| self.is_free(key, *end, now))
    }

    fn is_free(&mut self, key: Key, external: SocketAddr, now: Instant) -> bool {
        let at = (key.transport, external);
        if let Some(other) = self.external.get(&at).copied() {
            self.expire(other, now);
        }
        !self.external.contains_key(&at)
    }
}

fn seen(dependence: Dependence, remote: SocketAddr) -> Remote {
    match dependence {
        Dependence::EndpointIndependent => (None, None),
        Dependence::AddressDependent => (Some(remote.ip()), None),
        Dependence::AddressAndPortDependent => (Some(remote.ip()), Some(remote.port())),
    }
}

#[derive(Clone, Copy)]
enum Side {
    Inside,
    Outside,
}

/// What its segments have shown of a TCP connection: it is established from both SYNs to both FINs or a reset (RFC 5382 section 2; RFC 7857 section 2).
#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    syn: [bool; 2],
    fin: [bool; 2],
    reset: bool,
}

impl Connection {
    fn hear(&mut self, from: Side, carries: Carries) {
        let Carries::Segment(flags) = carries else { return };
        if flags.syn && (self.reset || self.fin == [true; 2]) {
            *self = Self::default();
        }
        self.syn[from as usize] |= flags.syn;
        self.fin[from as usize] |= flags.fin;
        self.reset |= flags.rst;
    }

    fn is_established(self) -> bool {
        self.syn == [true; 2] && self.fin != [true; 2] && !self.reset
    }
}
