//! MQTT packets to bytes, of both versions. It sends nothing.

use mqtt_protocol_core::mqtt::packet::{
    AssignedClientIdentifier, GenericPacketTrait, MaximumPacketSize, MessageExpiryInterval, Packet as Library,
    Properties, ReceiveMaximum, ServerKeepAlive, SessionExpiryInterval, SharedSubscriptionAvailable, SubEntry, SubOpts,
    SubscriptionIdentifier, TopicAlias, WillDelayInterval, v3_1_1, v5_0,
};
use mqtt_protocol_core::mqtt::result_code::{
    ConnectReasonCode, ConnectReturnCode, DisconnectReasonCode, MqttError, PubackReasonCode, PubcompReasonCode,
    PubrecReasonCode, PubrelReasonCode, SubackReasonCode, SubackReturnCode, UnsubackReasonCode,
};

use super::Reason;
use super::packet::{Ack, AckKind, Connack, Connect, Packet, Publish, Subscribe, Version, Will};

impl Packet {
    /// The bytes, or why this packet cannot be said in this version.
    pub fn encode(&self, version: Version) -> Result<Vec<u8>, Reason> {
        let packet = match version {
            Version::V311 => encode_311(self)?,
            Version::V5 => encode_5(self)?,
        };
        Ok(packet.to_continuous_buffer())
    }
}

fn encode_311(packet: &Packet) -> Result<Library, MqttError> {
    Ok(match packet {
        Packet::Connect(connect) => connect_311(connect)?.into(),
        Packet::Connack(connack) => {
            let builder = v3_1_1::Connack::builder().session_present(connack.session_present);
            builder.return_code(return_code(connack.reason)).build()?.into()
        }
        Packet::Publish(publish) => {
            let builder = v3_1_1::Publish::builder().topic_name(&publish.message.topic)?.qos(publish.qos);
            let builder = builder.retain(publish.retain).dup(publish.dup).payload(&publish.message.payload[..]);
            builder.packet_id((publish.id != 0).then_some(publish.id)).build()?.into()
        }
        Packet::Ack(Ack { kind, id, .. }) => match kind {
            AckKind::Puback => v3_1_1::Puback::builder().packet_id(*id).build()?.into(),
            AckKind::Pubrec => v3_1_1::Pubrec::builder().packet_id(*id).build()?.into(),
            AckKind::Pubrel => v3_1_1::Pubrel::builder().packet_id(*id).build()?.into(),
            AckKind::Pubcomp => v3_1_1::Pubcomp::builder().packet_id(*id).build()?.into(),
        },
        Packet::Subscribe(subscribe) => {
            v3_1_1::Subscribe::builder().packet_id(subscribe.id).entries(entries(subscribe)?).build()?.into()
        }
        Packet::Suback(id, reasons) => {
            let code = |reason: &Reason| SubackReturnCode::try_from(reason.0).unwrap_or(SubackReturnCode::Failure);
            let codes = reasons.iter().map(code).collect();
            v3_1_1::Suback::builder().packet_id(*id).return_codes(codes).build()?.into()
        }
        Packet::Unsubscribe(id, filters) => {
            v3_1_1::Unsubscribe::builder().packet_id(*id).entries(filters.iter().map(String::as_str))?.build()?.into()
        }
        Packet::Unsuback(id, _) => v3_1_1::Unsuback::builder().packet_id(*id).build()?.into(),
        Packet::Pingreq => v3_1_1::Pingreq::new().into(),
        Packet::Pingresp => v3_1_1::Pingresp::new().into(),
        Packet::Disconnect(_) => v3_1_1::Disconnect::new().into(),
        Packet::Auth => return Err(MqttError::ProtocolError),
    })
}

fn encode_5(packet: &Packet) -> Result<Library, MqttError> {
    Ok(match packet {
        Packet::Connect(connect) => connect_5(connect)?.into(),
        Packet::Connack(connack) => connack_5(connack)?.into(),
        Packet::Publish(publish) => publish_5(publish)?.into(),
        Packet::Ack(ack) => ack_5(ack)?,
        Packet::Subscribe(subscribe) => {
            let mut properties = Properties::new();
            if let Some(identifier) = subscribe.identifier {
                properties.push(SubscriptionIdentifier::new(identifier)?.into());
            }
            let builder = v5_0::Subscribe::builder().packet_id(subscribe.id).entries(entries(subscribe)?);
            builder.props(properties).build()?.into()
        }
        Packet::Suback(id, reasons) => {
            let code =
                |reason: &Reason| SubackReasonCode::try_from(reason.0).unwrap_or(SubackReasonCode::UnspecifiedError);
            let codes = reasons.iter().map(code).collect();
            v5_0::Suback::builder().packet_id(*id).reason_codes(codes).build()?.into()
        }
        Packet::Unsubscribe(id, filters) => {
            v5_0::Unsubscribe::builder().packet_id(*id).entries(filters.iter().map(String::as_str))?.build()?.into()
        }
        Packet::Unsuback(id, reasons) => {
            let code = |reason: &Reason| {
                UnsubackReasonCode::try_from(reason.0).unwrap_or(UnsubackReasonCode::UnspecifiedError)
            };
            let codes = reasons.iter().map(code).collect();
            v5_0::Unsuback::builder().packet_id(*id).reason_codes(codes).build()?.into()
        }
        Packet::Pingreq => v5_0::Pingreq::new().into(),
        Packet::Pingresp => v5_0::Pingresp::new().into(),
        Packet::Disconnect(disconnect) => {
            let mut builder = v5_0::Disconnect::builder();
            let mut properties = Properties::new();
            if let Some(interval) = disconnect.session_expiry_s {
                properties.push(SessionExpiryInterval::new(interval)?.into());
            }
            if disconnect.reason != Reason::SUCCESS || !properties.is_empty() {
                let code = DisconnectReasonCode::try_from(disconnect.reason.0);
                builder = builder.reason_code(code.unwrap_or(DisconnectReasonCode::UnspecifiedError));
            }
            if !properties.is_empty() {
                builder = builder.props(properties);
            }
            builder.build()?.into()
        }
        Packet::Auth => return Err(MqttError::ProtocolError),
    })
}

fn connect_311(connect: &Connect) -> Result<v3_1_1::Connect, MqttError> {
    let mut builder = v3_1_1::Connect::builder()
        .client_id(&connect.client_id)?
        .clean_session(connect.clean_start)
        .keep_alive(connect.keep_alive_s);
    if let Some(Will { message, qos, retain, .. }) = &connect.will {
        builder = builder.will_message(&message.topic, message.payload.to_vec(), *qos, *retain)?;
    }
    builder.build()
}

fn connect_5(connect: &Connect) -> Result<v5_0::Connect, MqttError> {
    let mut properties = Properties::new();
    if connect.session_expiry_s != 0 {
        properties.push(SessionExpiryInterval::new(connect.session_expiry_s)?.into());
    }
    push_limits(&mut properties, connect.receive_maximum, connect.maximum_packet_size)?;
    let mut builder = v5_0::Connect::builder()
        .client_id(&connect.client_id)?
        .clean_start(connect.clean_start)
        .keep_alive(connect.keep_alive_s)
        .props(properties);
    if let Some(will) = &connect.will {
        let mut properties = will.message.properties.clone();
        if will.delay_s != 0 {
            properties.push(WillDelayInterval::new(will.delay_s)?.into());
        }
        if let Some(expiry_s) = will.expiry_s {
            properties.push(MessageExpiryInterval::new(expiry_s)?.into());
        }
        let message = &will.message;
        builder = builder.will_message(&message.topic, message.payload.to_vec(), will.qos, will.retain)?;
        builder = builder.will_props(properties);
    }
    builder.build()
}

fn connack_5(connack: &Connack) -> Result<v5_0::Connack, MqttError> {
    let code = ConnectReasonCode::try_from(connack.reason.0).unwrap_or(ConnectReasonCode::UnspecifiedError);
    let mut properties = Properties::new();
    if let Some(interval) = connack.session_expiry_s {
        properties.push(SessionExpiryInterval::new(interval)?.into());
    }
    push_limits(&mut properties, connack.receive_maximum, connack.maximum_packet_size)?;
    if let Some(id) = &connack.assigned_client_id {
        properties.push(AssignedClientIdentifier::new(id)?.into());
    }
    if let Some(interval) = connack.server_keep_alive_s {
        properties.push(ServerKeepAlive::new(interval)?.into());
    }
    if !connack.shared_subscriptions {
        properties.push(SharedSubscriptionAvailable::new(0)?.into());
    }
    let builder = v5_0::Connack::builder().session_present(connack.session_present).reason_code(code);
    builder.props(properties).build()
}

/// Receive Maximum and Maximum Packet Size, where they are not what an end without the property has.
fn push_limits(
    properties: &mut Properties,
    receive_maximum: u16,
    maximum_packet_size: Option<u32>,
) -> Result<(), MqttError> {
    if receive_maximum != u16::MAX {
        properties.push(ReceiveMaximum::new(receive_maximum)?.into());
    }
    if let Some(maximum) = maximum_packet_size {
        properties.push(MaximumPacketSize::new(maximum)?.into());
    }
    Ok(())
}

fn publish_5(publish: &Publish) -> Result<v5_0::Publish, MqttError> {
    let mut properties = publish.message.properties.clone();
    if let Some(expiry_s) = publish.expiry_s {
        properties.push(MessageExpiryInterval::new(expiry_s)?.into());
    }
    if let Some(alias) = publish.alias {
        properties.push(TopicAlias::new(alias)?.into());
    }
    for identifier in &publish.subscriptions {
        properties.push(SubscriptionIdentifier::new(*identifier)?.into());
    }
    let builder = v5_0::Publish::builder().topic_name(&publish.message.topic)?.qos(publish.qos);
    let builder = builder.retain(publish.retain).dup(publish.dup).payload(&publish.message.payload[..]);
    builder.packet_id((publish.id != 0).then_some(publish.id)).props(properties).build()
}

/// Success is said by leaving the reason code out (section 3.4.2.1).
fn ack_5(ack: &Ack) -> Result<Library, MqttError> {
    let Ack { kind, id, reason } = *ack;
    macro_rules! build {
        ($kind:ident, $code:ident) => {{
            let mut builder = v5_0::$kind::builder().packet_id(id);
            if reason != Reason::SUCCESS {
                builder = builder.reason_code($code::try_from(reason.0).map_err(|_| MqttError::ProtocolError)?);
            }
            builder.build()?.into()
        }};
    }
    Ok(match kind {
        AckKind::Puback => build!(Puback, PubackReasonCode),
        AckKind::Pubrec => build!(Pubrec, PubrecReasonCode),
        AckKind::Pubrel => build!(Pubrel, PubrelReasonCode),
        AckKind::Pubcomp => build!(Pubcomp, PubcompReasonCode),
    })
}

fn entries(subscribe: &Subscribe) -> Result<Vec<SubEntry>, MqttError> {
    let entry = |(filter, options): &(String, super::packet::SubscriptionOptions)| {
        let encoded = SubOpts::new().set_qos(options.qos).set_nl(options.no_local);
        SubEntry::new(filter, encoded.set_rap(options.retain_as_published).set_rh(options.retain_handling))
    };
    subscribe.filters.iter().map(entry).collect()
}

/// The return code of 3.1.1 that says a reason best.
fn return_code(reason: Reason) -> ConnectReturnCode {
    match reason.0 {
        0x00 => ConnectReturnCode::Accepted,
        0x84 => ConnectReturnCode::UnacceptableProtocolVersion,
        0x85 => ConnectReturnCode::IdentifierRejected,
        0x86 => ConnectReturnCode::BadUserNameOrPassword,
        0x87 | 0x8C => ConnectReturnCode::NotAuthorized,
        _ => ConnectReturnCode::ServerUnavailable,
    }
}
