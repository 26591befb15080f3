//! What makes a request of HTTP/3 malformed that the library h3 lets pass (RFC 9114, sections 4.1.2 and 4.2). It decodes nothing.

use ::http::header::{CONNECTION, CONTENT_LENGTH, HOST, TE, TRANSFER_ENCODING, UPGRADE};
use ::http::{HeaderMap, HeaderName};

/// Fields of a connection of HTTP/1.1.
const OF_CONNECTIONS: [HeaderName; 5] = [
    CONNECTION,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Why a request is malformed.
#[derive(Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A field that is about a connection, or a TE other than `trailers`.
    OfConnection,
    /// Several Host fields.
    Hosts,
    /// A Content-Length that is not one number.
    Length,
}

/// The length that a request says its content has, if it says so.
pub fn content_length(headers: &HeaderMap) -> Result<Option<u64>, Malformed> {
    if OF_CONNECTIONS.iter().any(|name| headers.contains_key(name))
        || headers.get_all(TE).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"trailers"))
    {
        return Err(Malformed::OfConnection);
    }
    if headers.get_all(HOST).iter().count() > 1 {
        return Err(Malformed::Hosts);
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter().map(|value| value.to_str().unwrap_or_default());
    let Some(first) = lengths.next() else { return Ok(None) };
    let is_number = !first.is_empty() && first.bytes().all(|digit| digit.is_ascii_digit());
    let number = first.parse().ok().filter(|_| is_number && lengths.all(|other| other == first));
    number.map(Some).ok_or(Malformed::Length)
}

#[cfg(test)]
mod tests {
    use ::http::HeaderValue;

    use super::*;

    fn length(fields: &[(&'static str, &'static str)]) -> Result<Option<u64>, Malformed> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        content_length(&headers)
    }

    #[test]
    fn fields_of_a_connection_are_malformed() {
        for field in [
            ("connection", "close"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "x"),
            ("keep-alive", "5"),
            ("proxy-connection", "close"),
            ("te", "gzip"),
            ("te", "trailers, gzip"),
        ] {
            assert_eq!(length(&[field]), Err(Malformed::OfConnection), "{field:?}");
        }
        assert_eq!(length(&[("te", "trailers")]), Ok(None));
    }

    #[test]
    fn a_content_length_is_one_number() {
        assert_eq!(length(&[("content-length", "30")]), Ok(Some(30)));
        assert_eq!(length(&[("content-length", "30"), ("content-length", "30")]), Ok(Some(30)));
        for wrong in ["", "+3", "-1", "3, 3", "x", "99999999999999999999"] {
            assert_eq!(length(&[("content-length", wrong)]), Err(Malformed::Length), "{wrong:?}");
        }
        assert_eq!(length(&[("content-length", "1"), ("content-length", "2")]), Err(Malformed::Length));
        assert_eq!(length(&[("host", "a"), ("host", "a")]), Err(Malformed::Hosts));
    }
}
