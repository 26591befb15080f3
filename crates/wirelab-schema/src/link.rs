use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ImpairmentSpec;

/// An emulated path between hosts of a lane: one chain of impairments per direction, which all hosts of a side share.
///
/// `uplink` carries packets from the near side (the client's) to the far one (the server's), `downlink` the other way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Impairments that packets from client to server pass, in this order.
    pub uplink: Vec<ImpairmentSpec>,
    /// Impairments that packets from server to client pass, in this order.
    pub downlink: Vec<ImpairmentSpec>,
    /// A stage that both directions share (half-duplex air, a gateway's bottleneck); passed after the direction's own chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<MediumSpec>,
    /// Sleep of the client's radio, which both directions share: uplink packets pass it before their chain, downlink packets after theirs. Only
    /// where the client is alone on its side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioSpec>,
    /// Address translation at the far end of the path: uplink packets pass it after everything else, downlink packets before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat: Option<NatSpec>,
    /// MTU of the endpoints' interfaces, IP bytes: the kernel fragments (IPv4, RFC 791; IPv6, RFC 8200) and TCP announces its MSS as on any such
    /// interface. Absent means that of the lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// Which addresses the endpoints talk by. Absent means IPv4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<AddressFamily>,
    /// What runs it. Absent means Wirelab's own emulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<LinkBackend>,
}

/// What delays, drops and holds back a link's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkBackend {
    /// The link process. Its packet log says what became of each packet, and when.
    #[default]
    Wirelab,
    /// The kernel's netem and tbf, behind the link process, which passes every packet on at once: its packet log says what entered netem, and a
    /// trial's report counts what netem did.
    Netem,
}

/// A version of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressFamily {
    /// RFC 791.
    #[default]
    Ipv4,
    /// RFC 8200. Needs an MTU of at least 1280.
    Ipv6,
}

/// A stage that both directions and all hosts share: one frame at a time, each station behind its own bounded drop-tail queue. A station is each host
/// of the near side, and one, the access point, for all of the far side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MediumSpec {
    /// A serialiser that stations use in turn, without contention or errors.
    Serialiser {
        /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
        rate_bps: u64,
        /// Bytes that may wait at each station, behind the packet being sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_bytes: Option<u64>,
        /// Packets that may wait there. At least one of the two bounds is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_packets: Option<u32>,
        /// Bytes added to each packet's IP length.
        #[serde(default)]
        overhead_bytes: u32,
    },
    /// Air shared by CSMA/CA as in IEEE 802.11's distributed coordination function: a frame for each packet, an ACK for each frame, retries with
    /// doubling contention windows, collisions where two stations count down to the same slot.
    Wifi {
        /// Rate of data frames, counting IP bytes plus `overhead_bytes`.
        rate_bps: u64,
        /// Bytes of MAC header, LLC and FCS for each packet.
        overhead_bytes: u32,
        /// Preamble and PHY header of a data frame.
        preamble_ns: u64,
        /// Duration of an ACK frame with its preamble.
        ack_ns: u64,
        /// Slot time.
        slot_ns: u64,
        /// SIFS.
        sifs_ns: u64,
        /// DIFS.
        difs_ns: u64,
        /// CWmin, slots.
        cw_min: u32,
        /// CWmax, slots.
        cw_max: u32,
        /// How often a frame is sent again before it is dropped; dot11ShortRetryLimit is one more, for it counts the first try.
        retries: u32,
        /// Probability that a data frame is not received, whatever its size.
        frame_error: f64,
        /// Bytes that may wait at each station, behind the packet being sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_bytes: Option<u64>,
        /// Packets that may wait there. At least one of the two bounds is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_packets: Option<u32>,
    },
    /// IEEE 802.15.4 (2.4 GHz O-QPSK) under 6LoWPAN: fragments (RFC 4944), unslotted CSMA-CA, ACKs and retries; a datagram dies with one frame.
    Ieee802154 {
        /// Bytes that header compression (RFC 6282) saves of each datagram's IP and UDP headers.
        compressed_bytes: u32,
        /// Bytes of MAC header and FCS in each data frame.
        mac_bytes: u32,
        /// Probability that a data frame is not received.
        frame_error: f64,
        /// macMaxFrameRetries.
        retries: u32,
        /// macMaxCSMABackoffs.
        max_backoffs: u32,
        /// macMinBE.
        min_be: u32,
        /// macMaxBE.
        max_be: u32,
        /// Bytes that may wait at each station, behind the packet being sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_bytes: Option<u64>,
        /// Packets that may wait there. At least one of the two bounds is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_packets: Option<u32>,
    },
}

/// How the client's radio goes to sleep while no packet is sent or received, and what waking takes. It starts in the deepest sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioSpec {
    /// From light to deep: C-DRX, DRX or eDRX, PSM; or Wi-Fi's power save.
    pub sleeps: Vec<SleepSpec>,
    /// IP bytes that the network keeps for a sleeping client, and as many that the client keeps while its radio wakes; beyond them packets are dropped.
    pub buffer_bytes: u64,
}

/// One depth of sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepSpec {
    /// How long no packet has passed when it begins.
    pub after_ns: u64,
    /// How often the client listens, from the instant at which this sleep began; absent means never, so that downlink packets wait for an uplink
    /// packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_ns: Option<u64>,
    /// How long waking takes, before an uplink packet may go or after a downlink packet was announced.
    pub wake_ns: u64,
}

/// Address translation that keeps ports, as Linux's does: a mapping begins with an uplink packet and ends after a time without packets; downlink
/// packets without a mapping are dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NatSpec {
    /// Idle time after which a UDP mapping ends (RFC 4787, REQ-5: at least 2 minutes).
    pub udp_timeout_ns: u64,
    /// Idle time after which a TCP mapping ends (RFC 5382, REQ-5: at least 2 hours 4 minutes).
    pub tcp_timeout_ns: u64,
}
