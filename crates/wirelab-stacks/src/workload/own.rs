//! A request of the user's own, read and checked. It sends nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use wirelab_schema::OwnRequest;

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
        let body = STANDARD.decode(&request.body).map_err(|error| format!("`request`: its body: {error}"))?;
        if body.len() as u64 != upload_bytes {
            return Err(format!("`request`: its body has {} bytes, and `upload_bytes` is {upload_bytes}", body.len()));
        }
        Ok(Own { method, target: target.clone(), fields, body: body.into() })
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
}
