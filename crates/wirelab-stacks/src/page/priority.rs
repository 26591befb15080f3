//! Priorities of requests (RFC 9218). Who sends first is decided elsewhere.

use http::{HeaderMap, HeaderValue};
use wirelab_schema::{PageResource, ResourceKind};

/// Name of the field that says it to a server (RFC 9218, section 5).
pub const FIELD: &str = "priority";
/// Urgency of a request without the field (RFC 9218, section 4.1).
const DEFAULT_URGENCY: u8 = 3;

/// How a browser wants a response among others (RFC 9218, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// 0 to 7, the most urgent first.
    pub urgency: u8,
    /// It can be used as it comes, so that it may share the way with others.
    pub incremental: bool,
}

impl Priority {
    /// Of the first images that a document names: blink's `BoostImagePriority`.
    pub const FIRST_IMAGE: Self = Priority { urgency: 2, incremental: true };
    /// Of an image in the window once that is laid out, if it is not asked for by then: blink's `UpdateAllImageResourcePriorities`.
    pub const SEEN_IMAGE: Self = Priority { urgency: 1, incremental: true };

    /// Chromium's, before layout and by kind alone: blink's `TypeToPriority` and `ShouldLoadIncremental`, of which `net::HIGHEST` is urgency 0,
    /// `MEDIUM` 1, `LOW` 2 and `LOWEST` 3. Scripts that block nothing are taken to be `async` or `defer`.
    pub fn of(resource: &PageResource) -> Self {
        let (urgency, incremental) = match resource.kind {
            ResourceKind::Document => (0, true),
            ResourceKind::Stylesheet | ResourceKind::Font => (0, false),
            ResourceKind::Script if resource.blocking => (1, false),
            ResourceKind::Script => (DEFAULT_URGENCY, false),
            ResourceKind::Other => (1, true),
            ResourceKind::Image => (DEFAULT_URGENCY, true),
        };
        Priority { urgency, incremental }
    }

    /// As a request says (RFC 9218, section 5): a dictionary of which what is unknown or out of range is ignored.
    pub fn said(fields: &HeaderMap) -> Self {
        let mut said = Priority { urgency: DEFAULT_URGENCY, incremental: false };
        let values = fields.get_all(FIELD).iter().filter_map(|value| value.to_str().ok());
        for member in values.flat_map(|value| value.split(',')).map(str::trim) {
            match member.split_once('=').unwrap_or((member, "?1")) {
                ("u", urgency) => {
                    said.urgency = urgency.parse().ok().filter(|urgency| *urgency <= 7).unwrap_or(said.urgency)
                }
                ("i", "?1") => said.incremental = true,
                ("i", "?0") => said.incremental = false,
                _ => {}
            }
        }
        said
    }

    /// Whether a request can wait where nothing else tells a server what is urgent: Chromium's `kDelayablePriorityThreshold`.
    pub fn is_delayable(self) -> bool {
        self.urgency > 1
    }

    /// Value of the field; none where it would say what is the default.
    pub fn field(self) -> Option<HeaderValue> {
        let value = match (self.urgency, self.incremental) {
            (DEFAULT_URGENCY, false) => return None,
            (DEFAULT_URGENCY, true) => "i".to_owned(),
            (urgency, false) => format!("u={urgency}"),
            (urgency, true) => format!("u={urgency}, i"),
        };
        Some(HeaderValue::from_str(&value).expect("letters and digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::load::tests::resource;

    #[test]
    fn the_priority_field_is_chromiums_for_each_kind() {
        let field = |kind, blocking| {
            let mut resource = resource("/", "x", 1, None, 0, kind);
            resource.blocking = blocking;
            Priority::of(&resource).field().map(|value| value.to_str().expect("text").to_owned())
        };
        let said = |words: &str| Some(words.to_owned());
        assert_eq!(field(ResourceKind::Document, true), said("u=0, i"));
        assert_eq!(field(ResourceKind::Stylesheet, true), said("u=0"));
        assert_eq!(field(ResourceKind::Font, false), said("u=0"));
        assert_eq!(field(ResourceKind::Script, true), said("u=1"));
        assert_eq!(field(ResourceKind::Script, false), None);
        assert_eq!(field(ResourceKind::Image, false), said("i"));
    }

    #[test]
    fn a_server_reads_the_priority_that_a_client_writes() {
        let said = |value: &'static str| {
            let Priority { urgency, incremental } = Priority::said(
                &[(FIELD.parse().expect("a name"), HeaderValue::from_static(value))].into_iter().collect(),
            );
            (urgency, incremental)
        };
        assert_eq!(said("u=0, i"), (0, true));
        assert_eq!(said("i,u=5"), (5, true));
        assert_eq!(said("u=9, i=?0, x=1"), (3, false));
        assert_eq!(said(""), (3, false));
        let asked = Priority { urgency: 1, incremental: true };
        let fields = [(FIELD.parse().expect("a name"), asked.field().expect("a field"))].into_iter().collect();
        assert_eq!(Priority::said(&fields), asked);
    }
}
