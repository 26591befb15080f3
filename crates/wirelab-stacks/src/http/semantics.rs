//! What RFC 9110 and RFC 9112 ask of every origin server: `Host`, methods, `Date`. It knows no resource.

use std::sync::Arc;

use http::header::{ALLOW, CONTENT_LENGTH, DATE, HOST};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use wirelab_schema::SettingDescription;

use crate::Clock;
use crate::base::settings::{self, Settings};

/// Methods of a resource that can only be read.
pub const READ: &[Method] = &[Method::GET, Method::HEAD];

/// Setting `date`, of every version of HTTP.
pub fn date_setting() -> SettingDescription {
    settings::boolean(
        "date",
        true,
        "The server sends `Date` with every final response, as an origin server with a clock must (RFC 9110, section 6.6.1): 37 bytes over HTTP/1.1. \
         Off for servers that sent none.",
    )
}

/// Dates the responses of a server, if its setting says so.
#[derive(Clone)]
pub struct Dates(Option<Arc<dyn Clock>>);

impl Dates {
    /// By the clock, with the setting `date`.
    pub fn new(clock: &Arc<dyn Clock>, settings: &Settings) -> Self {
        Dates(settings.boolean("date").then(|| clock.clone()))
    }

    /// Adds the field to a final response.
    pub fn stamp(&self, headers: &mut HeaderMap) {
        if let Some(clock) = &self.0 {
            let date = httpdate::fmt_http_date(clock.time_of_day());
            headers.insert(DATE, HeaderValue::try_from(date).expect("it is ASCII"));
        }
    }
}

/// Why a request of HTTP/1 has to be answered with 400 (RFC 9112, section 3.2).
pub fn host_error<B>(request: &Request<B>) -> Option<&'static str> {
    if request.version() > Version::HTTP_11 {
        return None;
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if request.version() == Version::HTTP_11 => Some("a request without Host"),
        (None, _) => None,
        (Some(_), Some(_)) => Some("a request with several Host fields"),
        (Some(host), None) if is_host(host) => None,
        (Some(_), None) => Some("a Host that is not a host with an optional port"),
    }
}

/// `uri-host [ ":" port ]` (RFC 9110, section 7.2). An empty one is of a target without an authority.
fn is_host(value: &HeaderValue) -> bool {
    if value.is_empty() {
        return true;
    }
    let Ok(authority) = Authority::try_from(value.as_bytes()) else { return false };
    let (host, text) = (authority.host(), authority.as_str());
    let port = text.strip_prefix(host).map(|rest| rest.strip_prefix(':').unwrap_or(rest));
    !host.is_empty()
        && port.is_some_and(|port| port.is_empty() || port.parse::<u16>().is_ok() && !port.starts_with('+'))
}

/// Refuses a method that the resource does not have (RFC 9110, section 15.5.6).
pub fn refuse_method<B, T: Default>(request: &Request<B>, allowed: &[Method]) -> Option<Response<T>> {
    if allowed.contains(request.method()) {
        return None;
    }
    let names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
    let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::try_from(names.join(", ")).expect("they are ASCII"));
    Some(response)
}

/// A response without a body.
pub fn empty<T: Default>(status: StatusCode) -> Response<T> {
    let mut response = Response::new(T::default());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_LENGTH, 0.into());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(version: Version, hosts: &[&str]) -> Option<&'static str> {
        let builder =
            hosts.iter().fold(Request::get("/").version(version), |builder, host| builder.header(HOST, *host));
        host_error(&builder.body(()).expect("a request"))
    }

    #[test]
    fn http1_needs_one_valid_host() {
        for host in ["server.test", "server.test:8080", "[::1]:80", "10.0.0.1", "server.test:", ""] {
            assert_eq!(error(Version::HTTP_11, &[host]), None, "{host}");
        }
        for host in [
            "a b",
            "user@server.test",
            "server.test/path",
            "http://server.test",
            "a:b:c",
            "a:x",
            ":80",
            "a:99999",
            "a:+80",
        ] {
            assert!(error(Version::HTTP_11, &[host]).is_some(), "{host}");
        }
        assert!(error(Version::HTTP_11, &[]).is_some());
        assert!(error(Version::HTTP_11, &["a", "a"]).is_some());
    }

    #[test]
    fn http10_may_leave_host_out_and_http2_has_its_authority() {
        assert_eq!(error(Version::HTTP_10, &[]), None);
        assert!(error(Version::HTTP_10, &["a", "b"]).is_some());
        assert_eq!(error(Version::HTTP_2, &[]), None);
    }

    #[test]
    fn a_method_that_is_not_there_is_refused_with_those_that_are() {
        let request = |method| Request::builder().method(method).body(()).expect("a request");
        assert!(refuse_method::<_, ()>(&request(Method::HEAD), READ).is_none());
        let refusal = refuse_method::<_, ()>(&request(Method::DELETE), READ).expect("refused");
        assert_eq!(refusal.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(refusal.headers()[ALLOW], "GET, HEAD");
    }
}
