//! AMQP messages with a body of any kind. Their headers and properties are left alone.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use fe2o3_amqp::Sendable;
use fe2o3_amqp::types::messaging::{Body, Data, Message};
use fe2o3_amqp::types::primitives::Binary;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A body of any kind, its values left as they came.
pub type AnyBody = Body<AnyValue>;

/// The bytes of an AMQP value with its constructor, as they came.
///
/// The library's own such type (`LazyValue` of serde_amqp 0.18) cannot be read from a message of several frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyValue(Bytes);

/// By which serde_amqp knows that a value is to be left as it is.
const AS_IT_IS: &str = "__LAZY_VALUE";

impl AnyValue {
    fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for AnyValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Plain<'a>(&'a [u8]);
        impl Serialize for Plain<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(self.0)
            }
        }
        serializer.serialize_newtype_struct(AS_IT_IS, &Plain(&self.0))
    }
}

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl Visitor<'_> for ValueVisitor {
            type Value = AnyValue;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an AMQP value")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<AnyValue, E> {
                Ok(AnyValue(Bytes::copy_from_slice(bytes)))
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<AnyValue, E> {
                Ok(AnyValue(bytes.into()))
            }
        }
        deserializer.deserialize_newtype_struct(AS_IT_IS, ValueVisitor)
    }
}

/// A message with a single data section and nothing else.
pub fn of_bytes(body: &[u8]) -> Sendable<Data> {
    Sendable::from(Message::builder().data(Binary::from(body)).build())
}

/// Bytes that such a message has before its body: descriptor, constructor and length of the section (part 1, section 1.6.19; part 3, section 3.2.6).
pub fn bytes_before(body_bytes: usize) -> usize {
    if body_bytes < 256 { 5 } else { 8 }
}

/// What the application at the other end said: the data sections, or a value that is a binary or a string. `None` for anything else.
pub fn bytes_of(body: &AnyBody) -> Option<Cow<'_, [u8]>> {
    match body {
        Body::Data(_) => {
            let mut sections = body.try_as_data().ok()?;
            let first = sections.next().map_or(&[][..], |section| section);
            let rest: Vec<&Binary> = sections.collect();
            Some(match rest.is_empty() {
                true => Cow::Borrowed(first),
                false => rest.iter().fold(first.to_vec(), |whole, section| [&whole[..], section].concat()).into(),
            })
        }
        Body::Value(value) => match value.0.as_slice() {
            [0xa0 | 0xa1, _, bytes @ ..] => Some(Cow::Borrowed(bytes)),
            [0xb0 | 0xb1, _, _, _, _, bytes @ ..] => Some(Cow::Borrowed(bytes)),
            _ => None,
        },
        Body::Sequence(_) | Body::Empty => None,
    }
}

/// Bytes that a body takes, near enough for a limit.
pub fn size_of(body: &AnyBody) -> usize {
    match body {
        Body::Value(value) => value.0.as_slice().len(),
        Body::Data(sections) => sections.iter().map(|section| section.0.len()).sum(),
        Body::Sequence(sections) => {
            sections.iter().flat_map(|section| section.0.iter()).map(|value| value.as_slice().len()).sum()
        }
        Body::Empty => 0,
    }
}

/// The same as bytes that last.
pub fn into_bytes(body: AnyBody) -> Option<Bytes> {
    if let Body::Data(sections) = body {
        let mut sections: Vec<Vec<u8>> = sections.into_iter().map(|section| section.0.into_vec()).collect();
        return Some(if sections.len() == 1 { sections.remove(0).into() } else { sections.concat().into() });
    }
    bytes_of(&body).map(|bytes| Bytes::copy_from_slice(&bytes))
}

#[cfg(test)]
mod tests {
    use fe2o3_amqp::types::messaging::{AmqpValue, Batch};

    use super::*;

    fn value(bytes: &[u8]) -> AnyBody {
        Body::Value(AmqpValue(serde_amqp::from_slice(bytes).expect("a value")))
    }

    #[test]
    fn bytes_are_those_of_data_sections_or_of_a_binary_or_string() {
        let data =
            |parts: &[&[u8]]| Body::Data(Batch::new(parts.iter().map(|part| Data::from(*part)).collect::<Vec<_>>()));
        for (body, bytes) in [
            (data(&[b"ab"]), Some(&b"ab"[..])),
            (data(&[b"ab", b"c"]), Some(b"abc")),
            (value(&[0xa0, 2, b'a', b'b']), Some(b"ab")),
            (value(&[0xa1, 2, b'a', b'b']), Some(b"ab")),
            (value(&[0xb0, 0, 0, 0, 2, b'a', b'b']), Some(b"ab")),
            (value(&[0x52, 7]), None),
            (Body::Empty, None),
        ] {
            assert_eq!(bytes_of(&body).as_deref(), bytes, "{body:?}");
            assert_eq!(into_bytes(body).as_deref(), bytes);
        }
    }
}
