//! MQTT packets from bytes, of both versions. It judges no order of packets.

use std::sync::Arc;

use bytes::Bytes;
use mqtt_protocol_core::mqtt::connection::PacketData;
use mqtt_protocol_core::mqtt::packet::{GenericPacket, MqttString, Packet as Library, SubEntry, v3_1_1, v5_0};

use super::Reason;
use super::framer::Frame;
use super::packet::{
    Ack, AckKind, Connack, Connect, Disconnect, Message, Packet, Property, Publish, Qos, Subscribe,
    SubscriptionOptions, Version, Will,
};

impl Frame {
    /// The version that a CONNECT asks for, whichever it be; `None` for another packet.
    pub fn requested_version(&self) -> Option<Result<Version, Reason>> {
        let data = self.raw.data_as_slice();
        (self.raw.packet_type() == 1).then(|| match (data.get(..6), data.get(6)) {
            (Some(b"\0\x04MQTT"), Some(4)) => Ok(Version::V311),
            (Some(b"\0\x04MQTT"), Some(5)) => Ok(Version::V5),
            (Some(b"\0\x04MQTT" | b"\0\x06MQIs"), Some(_)) => Err(Reason::UNSUPPORTED_VERSION),
            _ => Err(Reason::PROTOCOL_ERROR),
        })
    }

    /// The packet. Beyond what the library checks: reserved flags (2.1.3), packet identifiers that are 0 (2.2.1), U+0000 (1.5.4), the flags of
    /// CONNECT (3.1.2.3 to 3.1.2.7), and DUP with QoS 0 (3.3.1.1).
    pub fn decode(&self, version: Version) -> Result<Packet, Reason> {
        self.check_flags()?;
        let packet = match self.library(version)? {
            Library::V3_1_1Connect(connect) => self.connect_311(&connect)?,
            Library::V5_0Connect(connect) => self.connect_5(&connect)?,
            Library::V3_1_1Connack(connack) => Packet::Connack(Connack {
                session_present: connack.session_present(),
                reason: reason_of(connack.return_code() as u8),
                ..Connack::default()
            }),
            Library::V5_0Connack(connack) => Packet::Connack(connack_5(&connack)),
            Library::V3_1_1Publish(publish) => {
                let (topic, payload) = (publish.topic_name(), publish.payload().as_slice());
                self.publish(topic, payload, publish.packet_id(), &[])?
            }
            Library::V5_0Publish(publish) => {
                let (topic, payload) = (publish.topic_name(), publish.payload().as_slice());
                self.publish(topic, payload, publish.packet_id(), publish.props())?
            }
            Library::V3_1_1Puback(ack) => acknowledge(AckKind::Puback, ack.packet_id(), None),
            Library::V3_1_1Pubrec(ack) => acknowledge(AckKind::Pubrec, ack.packet_id(), None),
            Library::V3_1_1Pubrel(ack) => acknowledge(AckKind::Pubrel, ack.packet_id(), None),
            Library::V3_1_1Pubcomp(ack) => acknowledge(AckKind::Pubcomp, ack.packet_id(), None),
            Library::V5_0Puback(ack) => {
                acknowledge(AckKind::Puback, ack.packet_id(), ack.reason_code().map(|code| code as u8))
            }
            Library::V5_0Pubrec(ack) => {
                acknowledge(AckKind::Pubrec, ack.packet_id(), ack.reason_code().map(|code| code as u8))
            }
            Library::V5_0Pubrel(ack) => {
                acknowledge(AckKind::Pubrel, ack.packet_id(), ack.reason_code().map(|code| code as u8))
            }
            Library::V5_0Pubcomp(ack) => {
                acknowledge(AckKind::Pubcomp, ack.packet_id(), ack.reason_code().map(|code| code as u8))
            }
            Library::V3_1_1Subscribe(subscribe) => {
                // The bits of the options that only MQTT 5 has are reserved.
                if subscribe.entries().iter().any(|entry| entry.sub_opts().to_buffer()[0] > 2) {
                    return Err(Reason::MALFORMED);
                }
                self.subscribe(subscribe.packet_id(), subscribe.entries(), &[])?
            }
            Library::V5_0Subscribe(subscribe) => {
                self.subscribe(subscribe.packet_id(), subscribe.entries(), subscribe.props())?
            }
            Library::V3_1_1Suback(suback) => {
                Packet::Suback(suback.packet_id(), suback.return_codes().into_iter().map(|c| Reason(c as u8)).collect())
            }
            Library::V5_0Suback(suback) => {
                Packet::Suback(suback.packet_id(), suback.reason_codes().into_iter().map(|c| Reason(c as u8)).collect())
            }
            Library::V3_1_1Unsubscribe(unsubscribe) => unsubscribed(unsubscribe.packet_id(), unsubscribe.entries())?,
            Library::V5_0Unsubscribe(unsubscribe) => unsubscribed(unsubscribe.packet_id(), unsubscribe.entries())?,
            Library::V3_1_1Unsuback(unsuback) => Packet::Unsuback(unsuback.packet_id(), Vec::new()),
            Library::V5_0Unsuback(unsuback) => {
                let reasons = unsuback.reason_codes().into_iter().map(|code| Reason(code as u8)).collect();
                Packet::Unsuback(unsuback.packet_id(), reasons)
            }
            Library::V3_1_1Pingreq(_) | Library::V5_0Pingreq(_) => Packet::Pingreq,
            Library::V3_1_1Pingresp(_) | Library::V5_0Pingresp(_) => Packet::Pingresp,
            Library::V3_1_1Disconnect(_) => {
                Packet::Disconnect(Disconnect { reason: Reason::SUCCESS, session_expiry_s: None })
            }
            Library::V5_0Disconnect(disconnect) => Packet::Disconnect(Disconnect {
                reason: Reason(disconnect.reason_code().map_or(0, |code| code as u8)),
                session_expiry_s: disconnect.props().iter().flatten().find_map(|property| match property {
                    Property::SessionExpiryInterval(interval) => Some(interval.val()),
                    _ => None,
                }),
            }),
            Library::V5_0Auth(_) => Packet::Auth,
        };
        Ok(packet)
    }

    fn library(&self, version: Version) -> Result<Library, Reason> {
        macro_rules! parse {
            ($kind:ty) => {
                GenericPacket::from(self.raw.parse_exact(<$kind>::parse)?)
            };
        }
        let flags = self.raw.flags();
        Ok(match (version, self.raw.packet_type()) {
            (Version::V311, 1) => parse!(v3_1_1::Connect),
            (Version::V311, 2) => parse!(v3_1_1::Connack),
            (Version::V311, 3) => v3_1_1::Publish::parse(flags, self.body())?.0.into(),
            (Version::V311, 4) => parse!(v3_1_1::Puback),
            (Version::V311, 5) => parse!(v3_1_1::Pubrec),
            (Version::V311, 6) => parse!(v3_1_1::Pubrel),
            (Version::V311, 7) => parse!(v3_1_1::Pubcomp),
            (Version::V311, 8) => parse!(v3_1_1::Subscribe),
            (Version::V311, 9) => parse!(v3_1_1::Suback),
            (Version::V311, 10) => parse!(v3_1_1::Unsubscribe),
            (Version::V311, 11) => parse!(v3_1_1::Unsuback),
            (Version::V311, 12) => parse!(v3_1_1::Pingreq),
            (Version::V311, 13) => parse!(v3_1_1::Pingresp),
            (Version::V311, 14) => parse!(v3_1_1::Disconnect),
            (Version::V5, 1) => parse!(v5_0::Connect),
            (Version::V5, 2) => parse!(v5_0::Connack),
            (Version::V5, 3) => v5_0::Publish::parse(flags, self.body())?.0.into(),
            (Version::V5, 4) => parse!(v5_0::Puback),
            (Version::V5, 5) => parse!(v5_0::Pubrec),
            (Version::V5, 6) => parse!(v5_0::Pubrel),
            (Version::V5, 7) => parse!(v5_0::Pubcomp),
            (Version::V5, 8) => parse!(v5_0::Subscribe),
            (Version::V5, 9) => parse!(v5_0::Suback),
            (Version::V5, 10) => parse!(v5_0::Unsubscribe),
            (Version::V5, 11) => parse!(v5_0::Unsuback),
            (Version::V5, 12) => parse!(v5_0::Pingreq),
            (Version::V5, 13) => parse!(v5_0::Pingresp),
            (Version::V5, 14) => parse!(v5_0::Disconnect),
            (Version::V5, 15) => parse!(v5_0::Auth),
            _ => return Err(Reason::MALFORMED),
        })
    }

    fn body(&self) -> mqtt_protocol_core::mqtt::Arc<[u8]> {
        match &self.raw.data {
            PacketData::Publish(body) => body.clone(),
            PacketData::Normal(body) => body.as_slice().into(),
        }
    }

    fn check_flags(&self) -> Result<(), Reason> {
        let flags = self.raw.flags();
        let right = match self.raw.packet_type() {
            // DUP with QoS 0 says nothing.
            3 => flags & 0b1110 != 0b1000,
            6 | 8 | 10 => flags == 0b0010,
            _ => flags == 0,
        };
        if right { Ok(()) } else { Err(Reason::MALFORMED) }
    }

    /// Connect Flags: reserved bit, Will Flag, Will QoS, Will Retain.
    fn check_connect_flags(&self) -> Result<(), Reason> {
        let flags = self.raw.data_as_slice()[7];
        let (will, will_qos, will_retain) = (flags & 0b100 != 0, (flags >> 3) & 0b11, flags & 0b10_0000 != 0);
        let right = flags & 1 == 0 && will_qos != 3 && (will || (will_qos == 0 && !will_retain));
        if right { Ok(()) } else { Err(Reason::MALFORMED) }
    }

    fn connect_311(&self, connect: &v3_1_1::Connect) -> Result<Packet, Reason> {
        self.check_connect_flags()?;
        let will = connect.will_topic().map(|topic| {
            let message = message(topic, connect.will_payload().unwrap_or_default(), &[]);
            Ok::<_, Reason>(Will {
                message: message?,
                qos: connect.will_qos(),
                retain: connect.will_retain(),
                delay_s: 0,
                expiry_s: None,
            })
        });
        Ok(Packet::Connect(Box::new(Connect {
            version: Version::V311,
            client_id: text(connect.client_id())?,
            clean_start: connect.clean_session(),
            keep_alive_s: connect.keep_alive(),
            session_expiry_s: if connect.clean_session() { 0 } else { u32::MAX },
            receive_maximum: u16::MAX,
            maximum_packet_size: None,
            authentication_method: false,
            will: will.transpose()?,
        })))
    }

    fn connect_5(&self, connect: &v5_0::Connect) -> Result<Packet, Reason> {
        self.check_connect_flags()?;
        let will = connect.will_topic().map(|topic| {
            let properties = connect.will_props();
            Ok::<_, Reason>(Will {
                message: message(topic, connect.will_payload().unwrap_or_default(), properties)?,
                qos: connect.will_qos(),
                retain: connect.will_retain(),
                delay_s: properties.iter().find_map(will_delay).unwrap_or(0),
                expiry_s: properties.iter().find_map(expiry),
            })
        });
        let mut decoded = Connect {
            version: Version::V5,
            client_id: text(connect.client_id())?,
            clean_start: connect.clean_start(),
            keep_alive_s: connect.keep_alive(),
            session_expiry_s: 0,
            receive_maximum: u16::MAX,
            maximum_packet_size: None,
            authentication_method: false,
            will: will.transpose()?,
        };
        for property in connect.props() {
            match property {
                Property::SessionExpiryInterval(interval) => decoded.session_expiry_s = interval.val(),
                Property::ReceiveMaximum(maximum) => decoded.receive_maximum = maximum.val(),
                Property::MaximumPacketSize(maximum) => decoded.maximum_packet_size = Some(maximum.val()),
                Property::AuthenticationMethod(_) => decoded.authentication_method = true,
                _ => {}
            }
        }
        Ok(Packet::Connect(Box::new(decoded)))
    }

    fn publish(&self, topic: &str, payload: &[u8], id: Option<u16>, properties: &[Property]) -> Result<Packet, Reason> {
        let flags = self.raw.flags();
        if id == Some(0) {
            return Err(Reason::MALFORMED);
        }
        Ok(Packet::Publish(Publish {
            message: message(topic, payload, properties)?,
            qos: Qos::try_from((flags >> 1) & 0b11).map_err(|_| Reason::MALFORMED)?,
            retain: flags & 1 != 0,
            dup: flags & 0b1000 != 0,
            id: id.unwrap_or(0),
            expiry_s: properties.iter().find_map(expiry),
            alias: properties.iter().find_map(|property| match property {
                Property::TopicAlias(alias) => Some(alias.val()),
                _ => None,
            }),
            subscriptions: properties.iter().filter_map(subscription_identifier).collect(),
        }))
    }

    fn subscribe(&self, id: u16, entries: &[SubEntry], properties: &[Property]) -> Result<Packet, Reason> {
        let filters = entries.iter().map(|entry| {
            let options = entry.sub_opts();
            let options = SubscriptionOptions {
                qos: options.qos(),
                no_local: options.nl(),
                retain_as_published: options.rap(),
                retain_handling: options.rh(),
            };
            Ok((text(entry.topic_filter())?, options))
        });
        let filters = filters.collect::<Result<_, Reason>>()?;
        let identifier = properties.iter().find_map(subscription_identifier);
        if id == 0 {
            return Err(Reason::MALFORMED);
        }
        Ok(Packet::Subscribe(Subscribe { id, filters, identifier }))
    }
}

/// The reason that a return code of 3.1.1's CONNACK stands for.
fn reason_of(return_code: u8) -> Reason {
    match return_code {
        0 => Reason::SUCCESS,
        1 => Reason::UNSUPPORTED_VERSION,
        2 => Reason::CLIENT_ID,
        3 => Reason(0x88),
        4 => Reason(0x86),
        _ => Reason(0x87),
    }
}

fn connack_5(connack: &v5_0::Connack) -> Connack {
    let mut decoded = Connack {
        session_present: connack.session_present(),
        reason: Reason(connack.reason_code() as u8),
        ..Connack::default()
    };
    for property in connack.props() {
        match property {
            Property::SessionExpiryInterval(interval) => decoded.session_expiry_s = Some(interval.val()),
            Property::ReceiveMaximum(maximum) => decoded.receive_maximum = maximum.val(),
            Property::MaximumPacketSize(maximum) => decoded.maximum_packet_size = Some(maximum.val()),
            Property::AssignedClientIdentifier(id) => decoded.assigned_client_id = Some(id.val().to_owned()),
            Property::ServerKeepAlive(interval) => decoded.server_keep_alive_s = Some(interval.val()),
            Property::SharedSubscriptionAvailable(available) => decoded.shared_subscriptions = available.val() != 0,
            _ => {}
        }
    }
    decoded
}

fn acknowledge(kind: AckKind, id: u16, reason: Option<u8>) -> Packet {
    Packet::Ack(Ack { kind, id, reason: Reason(reason.unwrap_or(0)) })
}

fn unsubscribed(id: u16, filters: &[MqttString]) -> Result<Packet, Reason> {
    if id == 0 {
        return Err(Reason::MALFORMED);
    }
    let filters = filters.iter().map(|filter| text(filter.as_str())).collect::<Result<_, _>>()?;
    Ok(Packet::Unsubscribe(id, filters))
}

fn message(topic: &str, payload: &[u8], properties: &[Property]) -> Result<Arc<Message>, Reason> {
    let passed_on = |property: &&Property| {
        matches!(
            property,
            Property::PayloadFormatIndicator(_)
                | Property::ContentType(_)
                | Property::ResponseTopic(_)
                | Property::CorrelationData(_)
                | Property::UserProperty(_)
        )
    };
    Ok(Arc::new(Message {
        topic: text(topic)?,
        payload: Bytes::copy_from_slice(payload),
        properties: properties.iter().filter(passed_on).cloned().collect(),
    }))
}

fn expiry(property: &Property) -> Option<u32> {
    match property {
        Property::MessageExpiryInterval(interval) => Some(interval.val()),
        _ => None,
    }
}

fn will_delay(property: &Property) -> Option<u32> {
    match property {
        Property::WillDelayInterval(interval) => Some(interval.val()),
        _ => None,
    }
}

fn subscription_identifier(property: &Property) -> Option<u32> {
    match property {
        Property::SubscriptionIdentifier(identifier) => Some(identifier.val()),
        _ => None,
    }
}

/// A string without U+0000, as every string in a packet must be.
fn text(text: &str) -> Result<String, Reason> {
    if text.contains('\0') { Err(Reason::MALFORMED) } else { Ok(text.to_owned()) }
}
