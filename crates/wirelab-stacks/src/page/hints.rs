//! What a server says ahead: preload, early hints, server push. No version of HTTP is spoken here.

use http::header::{ALT_SVC, LINK};
use http::{HeaderMap, HeaderValue};
use wirelab_schema::{PageResource, ResourceKind, SettingDescription};

use crate::base::settings;

/// The server says nothing ahead.
pub const NONE: &str = "none";
/// `Link` fields on the document's response.
pub const PRELOAD: &str = "preload";
/// `Link` fields in a 103 response before it.
pub const EARLY_HINTS: &str = "early-hints";
/// Pushed responses next to it.
pub const PUSH: &str = "push";

/// Setting `hints`, of every version of HTTP; `more` are its values that only some have.
pub fn setting(more: &[&str]) -> SettingDescription {
    let mut about = "Of `page` alone: how the server says ahead what the page needs. `none`: the client finds out as the bytes arrive. `preload`: a \
                     `Link` field with `rel=preload` on the document's response for each other resource (RFC 8288; HTML Living Standard, section \
                     4.6.7)."
        .to_owned();
    if more.contains(&EARLY_HINTS) {
        about += " `early-hints`: the same fields in a 103 response before it (RFC 8297).";
    }
    if more.contains(&PUSH) {
        about += " `push`: each other resource is pushed together with the document (RFC 9113, section 8.4).";
    }
    let choices: Vec<&str> = [NONE, PRELOAD].into_iter().chain(more.iter().copied()).collect();
    settings::choice("hints", &choices, &about)
}

/// A `Link` field's value that has a client fetch the resource; none for a frame's document, which is no destination of a preload (HTML Living
/// Standard, section 4.6.7).
pub fn preload(resource: &PageResource) -> Option<HeaderValue> {
    // Fonts and what a script fetches are asked for by CORS: without the attribute a browser would fetch them once more.
    let kind = match resource.kind {
        ResourceKind::Document => return None,
        ResourceKind::Stylesheet => "style",
        ResourceKind::Script => "script",
        ResourceKind::Image => "image",
        ResourceKind::Font => "font; crossorigin",
        ResourceKind::Other => "fetch; crossorigin",
    };
    let value = format!("<{}>; rel=preload; as={kind}", resource.path);
    Some(HeaderValue::from_str(&value).expect("the manifest's paths were checked"))
}

/// The targets that `Link` fields (RFC 8288, section 3) have a client fetch.
pub fn preloads(fields: &HeaderMap) -> Vec<String> {
    let values = fields.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(links)
        .filter(|(_, parameters)| is_preload(parameters))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// An `Alt-Svc` field's value that names HTTP/3 at this port.
pub fn http3(port: u16) -> HeaderValue {
    HeaderValue::from_str(&format!("h3=\":{port}\"")).expect("digits")
}

/// Whether `Alt-Svc` (RFC 7838, section 3) names HTTP/3.
pub fn says_http3(fields: &HeaderMap) -> bool {
    let values = fields.get_all(ALT_SVC).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|service| service.trim_start().starts_with("h3="))
}

/// The targets of a field's value, each with its parameters.
fn links(mut value: &str) -> Vec<(&str, &str)> {
    let mut links = Vec::new();
    while let Some((_, rest)) = value.split_once('<')
        && let Some((target, rest)) = rest.split_once('>')
    {
        let mut quoted = false;
        let end = rest.find(|letter| {
            quoted ^= letter == '"';
            letter == ',' && !quoted
        });
        let (parameters, rest) = rest.split_at(end.unwrap_or(rest.len()));
        links.push((target, parameters));
        value = rest;
    }
    links
}

fn is_preload(parameters: &str) -> bool {
    parameters.split(';').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
        let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
        name.trim().eq_ignore_ascii_case("rel") && relations.any(|word| word.eq_ignore_ascii_case("preload"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::load::tests::resource;

    fn targets(values: &[&'static str]) -> Vec<String> {
        preloads(&values.iter().map(|value| (LINK, HeaderValue::from_static(value))).collect())
    }

    #[test]
    fn preload_links_are_distinguished_from_other_links() {
        let value = r#"</a.css>; rel="x preload" ; as=style, </b?c=1,2>; title="a, <b>"; rel=next,</d.js>;as=script;REL=preload"#;
        assert_eq!(targets(&[value, "</e.png>; rel=preload"]), ["/a.css", "/d.js", "/e.png"]);
        assert!(targets(&["", "<", "</a", "nothing", "</a>", "</a>; rel=prefetch"]).is_empty());
    }

    #[test]
    fn http3_is_distinguished_from_other_alternative_services() {
        let says = |value| says_http3(&[(ALT_SVC, HeaderValue::from_static(value))].into_iter().collect());
        assert!(says(r#"h2=":443", h3=":8443"; ma=86400"#));
        assert!(says_http3(&[(ALT_SVC, http3(8443))].into_iter().collect()));
        assert!(![r#"h2="h3=:1""#, "clear", r#"h3-29=":443""#].into_iter().any(says));
        assert!(!says_http3(&HeaderMap::new()));
    }

    #[test]
    fn a_client_reads_the_links_that_a_server_writes() {
        let font = resource("/", "a;b,c.woff2", 1, Some(0), 0, ResourceKind::Font);
        let value = preload(&font).expect("a font is preloaded");
        assert_eq!(preloads(&[(LINK, value)].into_iter().collect()), ["/a;b,c.woff2"]);
        assert_eq!(preload(&resource("/", "frame.html", 1, Some(0), 0, ResourceKind::Document)), None);
    }
}
