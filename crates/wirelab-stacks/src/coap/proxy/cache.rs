//! The proxy's cache (RFC 7252, section 5.6). It sends nothing.

use std::collections::HashMap;
use std::time::Duration;

use ::http::header::{AGE, CACHE_CONTROL, DATE, ETAG, EXPIRES, HeaderMap, HeaderName, HeaderValue, VARY};

use super::mapping::CONTENT;
use crate::codec::coap::{IncomingRequest, Method, Response};

/// Of a response that does not say (RFC 7252, section 5.10.5).
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(60);

/// What the origin answered to GETs (RFC 7252, section 5.6): successes, though errors could be kept too. Shared by all clients, and asked by one key
/// for all options that make a difference.
#[derive(Default)]
pub struct Cache(HashMap<Key, Kept>);

/// The target, and the Content-Format that is accepted.
type Key = (String, Option<u16>);

struct Kept {
    response: Response,
    /// What the origin said of it.
    headers: HeaderMap,
    until_ns: u64,
}

/// An answer that is fresh no longer, of which the origin can be asked whether it still holds.
pub struct Stale {
    /// The answer.
    pub response: Response,
    headers: HeaderMap,
}

impl Stale {
    /// Its entity-tag.
    pub fn validator(&self) -> &HeaderValue {
        &self.headers[ETAG]
    }

    /// What the origin says of it who has said that it still holds: what it has said before, but for what it has said now (RFC 9111, section 3.2).
    pub fn headers(mut self, newer: HeaderMap) -> HeaderMap {
        // It is of that age no longer.
        self.headers.remove(AGE);
        self.headers.extend(newer);
        self.headers
    }
}

impl Cache {
    /// What is fresh, with a Max-Age of what remains (RFC 7252, section 5.7.1).
    pub fn fresh(&self, asked: &IncomingRequest, now_ns: u64) -> Option<Response> {
        let kept = self.kept(asked).filter(|kept| now_ns < kept.until_ns)?;
        let max_age = shown(Duration::from_nanos(kept.until_ns - now_ns));
        Some(Response { max_age, ..kept.response.clone() })
    }

    /// What is kept for asking whether it still holds.
    pub fn stale(&self, asked: &IncomingRequest) -> Option<Stale> {
        let kept = self.kept(asked)?;
        kept.headers
            .contains_key(ETAG)
            .then(|| Stale { response: kept.response.clone(), headers: kept.headers.clone() })
    }

    /// Takes an answer that stays fresh for so long; none at all that is not to be kept. One to any other method than GET puts an end to what was
    /// kept of its target (RFC 9111, section 4.4).
    pub fn keep(
        &mut self,
        asked: &IncomingRequest,
        response: &Response,
        fresh_for: Option<Duration>,
        headers: HeaderMap,
        now_ns: u64,
    ) {
        if asked.method != Method::Get {
            self.0.retain(|(target, _), _| *target != asked.target);
            return;
        }
        self.0.remove(&key(asked));
        let Some(fresh_for) = fresh_for.filter(|_| u8::from(response.code) == CONTENT) else { return };
        if headers.contains_key(ETAG) || !fresh_for.is_zero() {
            let until_ns = now_ns.saturating_add(fresh_for.as_nanos().try_into().unwrap_or(u64::MAX));
            self.0.insert(key(asked), Kept { response: response.clone(), headers, until_ns });
        }
    }

    fn kept(&self, asked: &IncomingRequest) -> Option<&Kept> {
        (asked.method == Method::Get).then(|| self.0.get(&key(asked))).flatten()
    }
}

/// Max-Age of what the origin answered just now (RFC 7252, section 10.1.1).
pub fn max_age(asked: &IncomingRequest, fresh_for: Option<Duration>) -> Option<u32> {
    (asked.method == Method::Get).then(|| shown(fresh_for.unwrap_or_default())).flatten()
}

/// For how long a shared cache may answer with what came with these headers (RFC 9111, section 4.2): not at all if it may not keep it, no time if
/// it has to ask each time.
pub fn freshness(headers: &HeaderMap) -> Option<Duration> {
    let control = list(headers, &CACHE_CONTROL);
    let says = |directive: &str| control.iter().any(|found| found == directive);
    if says("no-store") || says("private") || list(headers, &VARY).iter().any(|field| field == "*") {
        return None;
    }
    if says("no-cache") {
        return Some(Duration::ZERO);
    }
    let seconds = |name: &str| {
        let value = control.iter().find_map(|directive| directive.strip_prefix(name)?.strip_prefix('='))?;
        // What makes no sense is stale (RFC 9111, section 4.2.1).
        Some(Duration::from_secs(value.trim_matches('"').parse().unwrap_or(0)))
    };
    let lifetime = seconds("s-maxage").or_else(|| seconds("max-age")).or_else(|| expires(headers));
    let age = headers.get(AGE).and_then(|age| age.to_str().ok()?.trim().parse().ok()).map(Duration::from_secs);
    Some(lifetime.unwrap_or(DEFAULT_MAX_AGE).saturating_sub(age.unwrap_or_default()))
}

/// From Date to Expires (RFC 9111, section 5.3).
fn expires(headers: &HeaderMap) -> Option<Duration> {
    let date = |name| httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok();
    headers
        .contains_key(EXPIRES)
        .then(|| {
            let (until, from) = (date(EXPIRES)?, date(DATE)?);
            until.duration_since(from).ok()
        })?
        .or(Some(Duration::ZERO))
}

/// The members of a header's lists, in lower case.
fn list(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|member| member.trim().to_ascii_lowercase()).collect()
}

/// The default needs no word.
fn shown(lifetime: Duration) -> Option<u32> {
    Some(lifetime.as_secs())
        .filter(|seconds| *seconds != DEFAULT_MAX_AGE.as_secs())
        .map(|seconds| seconds.try_into().unwrap_or(u32::MAX))
}

fn key(asked: &IncomingRequest) -> Key {
    (asked.target.clone(), asked.accept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(lines: &[(HeaderName, &str)]) -> Option<u64> {
        let lines = lines.iter().map(|(name, value)| (name.clone(), value.parse().expect("a header's value")));
        freshness(&lines.collect()).map(|lifetime| lifetime.as_secs())
    }

    #[test]
    fn a_response_is_fresh_for_the_lifetime_that_its_origin_gives() {
        let control = |value| fresh(&[(CACHE_CONTROL, value)]);
        assert_eq!(["public, Max-Age=5", "max-age=\"7\"", "max-age=x"].map(control), [Some(5), Some(7), Some(0)]);
        assert_eq!(["max-age=9, no-cache", "max-age=9, s-maxage=3"].map(control), [Some(0), Some(3)]);
        assert_eq!(["no-store", "private, max-age=9"].map(control), [None, None]);
        assert_eq!(fresh(&[(CACHE_CONTROL, "public"), (CACHE_CONTROL, "max-age=4")]), Some(4));
        assert_eq!(fresh(&[(CACHE_CONTROL, "max-age=9"), (AGE, "4")]), Some(5));
        assert_eq!(fresh(&[(CACHE_CONTROL, "max-age=9"), (AGE, "40")]), Some(0));
        assert_eq!(fresh(&[(VARY, "accept, *")]), None);
        assert_eq!(fresh(&[]), Some(60));
    }

    #[test]
    fn a_date_of_expiry_counts_from_that_of_the_answer() {
        let date = (DATE, "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(fresh(&[date.clone(), (EXPIRES, "Sun, 06 Nov 1994 08:49:57 GMT")]), Some(20));
        assert_eq!(fresh(&[date.clone(), (EXPIRES, "Sun, 06 Nov 1994 08:49:07 GMT")]), Some(0));
        assert_eq!(fresh(&[date.clone(), (EXPIRES, "0")]), Some(0));
        assert_eq!(fresh(&[date, (EXPIRES, "0"), (CACHE_CONTROL, "max-age=3")]), Some(3));
    }
}
