//! Requests and messages of the user's own, read and checked. It sends nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use wirelab_schema::{EndpointParameters, OwnMessage, OwnRequest, WorkloadSpec};

use super::Work;
use crate::Payload;

/// Its parts.
#[derive(Clone, Debug)]
pub struct Own {
    /// Of HTTP, or by its name of CoAP.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// Header fields, in their order.
    pub fields: HeaderMap,
    /// Empty without one.
    pub body: Bytes,
}

impl Own {
    /// Reads it, or says what is wrong. `upload_bytes` is what its body must have.
    pub fn read(request: &OwnRequest, upload_bytes: u64) -> Result<Self, String> {
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| format!("`request`: {:?} is not a method", request.method))?;
        let target = &request.target;
        if !target.starts_with('/') || PathAndQuery::try_from(target.as_str()).is_err() {
            return Err(format!("`request`: {target:?} is not a path that begins with /"));
        }
        let mut fields = HeaderMap::new();
        for (name, value) in &request.fields {
            let parsed = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
            let (Ok(name), Ok(value)) = parsed else {
                return Err(format!("`request`: {name:?} with {value:?} is not a header field"));
            };
            fields.append(name, value);
        }
        let body = body_of("request", &request.body, ("upload_bytes", upload_bytes))?;
        Ok(Own { method, target: target.clone(), fields, body })
    }

    /// That of a workload whose request was checked when the endpoint started.
    pub fn checked(request: &OwnRequest, upload_bytes: u64) -> Self {
        Own::read(request, upload_bytes).expect("it was checked with the workload")
    }

    /// Its fields, one a line.
    pub fn lines(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for (name, value) in &self.fields {
            lines.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\n"].concat());
        }
        lines
    }
}

/// The reading of every exchange of a workload that has them.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The user's own topic or address; `None` if it goes where built-in brokers take it.
    pub topic: Option<String>,
    /// The user's own body, else the endpoints' key stream.
    pub body: Bytes,
}

impl Reading {
    /// As a workload says that was checked when the endpoint started.
    pub fn of(parameters: &EndpointParameters) -> Self {
        let bytes = Work::exchanges(&parameters.workload).upload_bytes;
        let own = match &parameters.workload {
            WorkloadSpec::Telemetry(work) => work.publish.as_ref(),
            _ => None,
        };
        let body = match own {
            Some(own) if !own.body.is_empty() => {
                body_of("publish", &own.body, ("message_bytes", bytes)).expect("it was checked with the workload")
            }
            _ => Payload::new(parameters.seed).bytes(bytes as usize),
        };
        Reading { topic: own.map(|own| own.topic.clone()), body }
    }
}

/// Refuses a message without a topic, or with a body of another size.
pub(super) fn check(message: &OwnMessage, message_bytes: u64) -> Result<(), String> {
    if message.topic.is_empty() {
        return Err("`publish`: its topic is empty".to_owned());
    }
    match message.body.is_empty() {
        true => Ok(()),
        false => body_of("publish", &message.body, ("message_bytes", message_bytes)).map(drop),
    }
}

/// A body in base64, of so many bytes.
fn body_of(key: &str, body: &str, (size, bytes): (&str, u64)) -> Result<Bytes, String> {
    let body = STANDARD.decode(body).map_err(|error| format!("`{key}`: its body: {error}"))?;
    match body.len() as u64 == bytes {
        true => Ok(body.into()),
        false => Err(format!("`{key}`: its body has {} bytes, and `{size}` is {bytes}", body.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> OwnRequest {
        OwnRequest {
            method: "PUT".to_owned(),
            target: "/api/items?first=1".to_owned(),
            fields: vec![("accept".to_owned(), "text/plain".to_owned()), ("accept".to_owned(), "*/*".to_owned())],
            body: "aGk=".to_owned(),
        }
    }

    #[test]
    fn it_has_its_method_target_fields_and_body() {
        let own = Own::read(&request(), 2).expect("read");
        assert_eq!((own.method.as_str(), own.target.as_str()), ("PUT", "/api/items?first=1"));
        assert_eq!(own.fields.get_all("accept").iter().count(), 2);
        assert_eq!(own.body, "hi");
        assert_eq!(own.lines(), b"accept: text/plain\naccept: */*\n");
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        let wrong = [
            (OwnRequest { method: "P T".to_owned(), ..request() }, "is not a method"),
            (OwnRequest { target: "items".to_owned(), ..request() }, "begins with /"),
            (OwnRequest { target: "/a b".to_owned(), ..request() }, "begins with /"),
            (OwnRequest { fields: vec![("a b".to_owned(), "c".to_owned())], ..request() }, "not a header field"),
            (OwnRequest { fields: vec![("a".to_owned(), "b\r\nc".to_owned())], ..request() }, "not a header field"),
            (OwnRequest { body: "?".to_owned(), ..request() }, "its body"),
            (OwnRequest { body: String::new(), ..request() }, "has 0 bytes"),
        ];
        for (request, words) in wrong {
            let error = Own::read(&request, 2).expect_err("refused");
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_message_has_a_topic_and_a_body_of_its_size() {
        let message = |topic: &str, body: &str| OwnMessage { topic: topic.to_owned(), body: body.to_owned() };
        assert_eq!(check(&message("a/b", ""), 100), Ok(()));
        assert_eq!(check(&message("a/b", "aGk="), 2), Ok(()));
        for (message, words) in [(message("", ""), "its topic is empty"), (message("a", "aGk="), "has 2 bytes")] {
            let error = check(&message, 3).expect_err("refused");
            assert!(error.contains(words), "{error}");
        }
    }
}
