//! Requests of CoAP as requests of HTTP, and HTTP's answers as CoAP's (RFC 7252, section 10.1). It sends nothing.

use std::borrow::Cow;

use ::http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, IF_NONE_MATCH};
use ::http::{Request, response};
use bytes::Bytes;
use http_body_util::Full;

use crate::base::attempt::ExchangeError;
use crate::coap::resources::PAYLOAD_FORMAT;
use crate::codec::coap::{IncomingRequest, Method, Response};

const PUT: Method = Method::Other(3);
const DELETE: Method = Method::Other(4);
const CREATED: u8 = 0x41;
const DELETED: u8 = 0x42;
const CHANGED: u8 = 0x44;
pub const CONTENT: u8 = 0x45;
const BAD_REQUEST: u8 = 0x80;
const INTERNAL_SERVER_ERROR: u8 = 0xa0;
const BAD_GATEWAY: u8 = 0xa2;
/// Content-Formats (RFC 7252, section 12.3) and media types that stand for one another.
const FORMATS: [(u16, &str); 7] = [
    (0, "text/plain; charset=utf-8"),
    (40, "application/link-format"),
    (41, "application/xml"),
    (42, "application/octet-stream"),
    (50, "application/json"),
    (60, "application/cbor"),
    (PAYLOAD_FORMAT, "application/vnd.wirelab"),
];
/// Of any other Content-Format, with its number (RFC 8075, section 6.2).
const COAP_PAYLOAD: &str = "application/coap-payload";

/// The request that the origin gets; with a validator, one for what has changed since.
pub fn request(
    asked: &IncomingRequest,
    host: &str,
    validator: Option<&HeaderValue>,
) -> Result<Request<Full<Bytes>>, ExchangeError> {
    let method = match asked.method {
        Method::Get => ::http::Method::GET,
        Method::Post => ::http::Method::POST,
        PUT => ::http::Method::PUT,
        DELETE => ::http::Method::DELETE,
        Method::Other(code) => return Err(ExchangeError::Unsupported(format!("method 0.{code:02} has no mapping"))),
    };
    let mut request = Request::builder().method(method).uri(&asked.target).header(HOST, host);
    if let Some(format) = asked.content_format {
        request = request.header(CONTENT_TYPE, &*media_type(format));
    }
    if let Some(format) = asked.accept {
        request = request.header(ACCEPT, &*media_type(format));
    }
    if let Some(validator) = validator {
        request = request.header(IF_NONE_MATCH, validator);
    }
    Ok(request.body(Full::new(asked.payload.clone()))?)
}

/// What the client gets for an origin's answer to a request of this method.
pub fn response(method: Method, head: &response::Parts, payload: Bytes) -> Response {
    let content_format = content_format(&head.headers).filter(|_| !payload.is_empty());
    Response { content_format, ..Response::new(code(method, head.status.as_u16()).into(), payload) }
}

/// CoAP's codes have HTTP's numbers, but for successes and for what only one of the two has: 4.09, 4.22 and 4.29 are of RFC 8132 and RFC 8516. What
/// CoAP has no code for is the client's error in general, or the origin's.
fn code(method: Method, status: u16) -> u8 {
    match (method, status) {
        (Method::Get, 200..300) => CONTENT,
        (DELETE, 200..300) => DELETED,
        (_, 201) => CREATED,
        (_, 200..300) => CHANGED,
        (_, 400 | 401 | 403..=406 | 409 | 412 | 413 | 415 | 422 | 429) => BAD_REQUEST + (status - 400) as u8,
        (_, 400..500) => BAD_REQUEST,
        (_, 500..=504) => INTERNAL_SERVER_ERROR + (status - 500) as u8,
        _ => BAD_GATEWAY,
    }
}

fn media_type(format: u16) -> Cow<'static, str> {
    let known = FORMATS.iter().find(|(number, _)| *number == format);
    known.map_or_else(|| format!("{COAP_PAYLOAD};cf={format}").into(), |(_, kind)| (*kind).into())
}

/// Parameters but for text's character set make no difference (RFC 8075, section 6.3).
fn content_format(headers: &HeaderMap) -> Option<u16> {
    let words = headers.get(CONTENT_TYPE)?.to_str().ok()?.to_ascii_lowercase();
    let mut parts = words.split(';').map(str::trim);
    let kind = parts.next()?;
    if kind == COAP_PAYLOAD {
        return parts.find_map(|parameter| parameter.strip_prefix("cf=")?.trim_matches('"').parse().ok());
    }
    if kind == "text/plain" {
        let charset = parts.find_map(|parameter| parameter.strip_prefix("charset=")).map(|set| set.trim_matches('"'));
        return charset.is_none_or(|set| set == "utf-8" || set == "us-ascii").then_some(0);
    }
    FORMATS.iter().find(|(_, known)| kind == *known).map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(kind: &str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().expect("a header's value"))])
    }

    #[test]
    fn statuses_become_the_codes_that_stand_for_them() {
        let codes =
            [(Method::Get, 200), (Method::Post, 200), (Method::Post, 201), (PUT, 204), (PUT, 201), (DELETE, 204)];
        assert_eq!(codes.map(|(method, status)| code(method, status)), [0x45, 0x44, 0x41, 0x44, 0x41, 0x42]);
        let errors = [404, 405, 409, 413, 415, 418, 402, 408];
        assert_eq!(errors.map(|status| code(Method::Get, status)), [0x84, 0x85, 0x89, 0x8d, 0x8f, 0x80, 0x80, 0x80]);
        assert_eq!([500, 503, 504, 507, 301].map(|status| code(Method::Get, status)), [0xa0, 0xa3, 0xa4, 0xa2, 0xa2]);
    }

    #[test]
    fn formats_and_media_types_stand_for_one_another() {
        for format in FORMATS.map(|(format, _)| format).into_iter().chain([112, 10_000]) {
            assert_eq!(content_format(&headers(&media_type(format))), Some(format));
        }
        assert_eq!(media_type(112), "application/coap-payload;cf=112");
        assert_eq!(content_format(&headers("Application/JSON; charset=utf-8")), Some(50));
        assert_eq!(
            ["text/plain", "text/plain; charset=latin1"].map(|kind| content_format(&headers(kind))),
            [Some(0), None]
        );
        assert_eq!(content_format(&headers("image/png")), None);
    }

    #[test]
    fn a_request_is_forwarded_with_its_path_query_and_formats() {
        let asked = IncomingRequest {
            method: PUT,
            target: "/a%20b?c=d&e".to_owned(),
            content_format: Some(50),
            accept: Some(0),
            payload: Bytes::from_static(b"{}"),
            observe: false,
        };
        let sent = request(&asked, "server.test:80", None).expect("it has a mapping");
        assert_eq!((sent.method(), sent.uri().to_string()), (&::http::Method::PUT, "/a%20b?c=d&e".to_owned()));
        let header = |name| sent.headers()[name].to_str().expect("text");
        assert_eq!([HOST, CONTENT_TYPE, ACCEPT].map(header), ["server.test:80", "application/json", FORMATS[0].1]);
        let fetch = IncomingRequest { method: Method::Other(5), ..asked };
        assert!(matches!(request(&fetch, "server.test:80", None), Err(ExchangeError::Unsupported(_))));
    }
}
