//! Tests: loads as dialogues between a browser and a server.

mod any_page;
mod faults;

use std::collections::HashMap;

use ring::digest::{SHA256, digest};
use wirelab_schema::{PageManifest, PageResource, ResourceKind};

use super::outcome::Ended;
use super::*;

/// A resource whose body is as many zeros.
pub fn resource(
    folder: &str,
    name: &str,
    body_bytes: u64,
    parent: Option<u32>,
    at_bytes: u64,
    kind: ResourceKind,
) -> PageResource {
    let sha256 = digest(&SHA256, &vec![0; body_bytes as usize]);
    let sha256 = sha256.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let blocking = matches!(kind, ResourceKind::Document | ResourceKind::Stylesheet);
    let (path, media_type) = (format!("{folder}{name}"), "text/plain".to_owned());
    PageResource { path, body_bytes, sha256, media_type, kind, parent, at_bytes, blocking }
}

pub fn page(resources: Vec<PageResource>) -> Arc<Page> {
    Arc::new(Page::new(PageManifest { schema_version: 1, resources, left_out: Vec::new() }).expect("a manifest"))
}

/// A document of 100 bytes that names a stylesheet at byte 20, which names a font, and eight images from byte 30 on.
fn gallery() -> Arc<Page> {
    let mut resources = vec![
        resource("/", "index.html", 100, None, 0, ResourceKind::Document),
        resource("/", "a.css", 10, Some(0), 20, ResourceKind::Stylesheet),
    ];
    for image in 0..8 {
        resources.push(resource("/", &format!("{image}.jpg"), 50, Some(0), 30 + image, ResourceKind::Image));
    }
    resources.push(resource("/", "f.woff2", 5, Some(1), 10, ResourceKind::Font));
    page(resources)
}

/// Says what the network does, and notes what the load does, in the words of the tests.
struct Dialogue {
    load: Load,
    now_ns: u64,
    connection_of: HashMap<String, usize>,
    requested: Vec<String>,
}

impl Dialogue {
    fn new(page: Arc<Page>, rules: Rules) -> Self {
        let load = Load::new(page, rules, 0);
        Dialogue { load, now_ns: 0, connection_of: HashMap::new(), requested: Vec::new() }
    }

    /// What it does now: `connect N` and `PATH on N`.
    fn does(&mut self) -> Vec<String> {
        self.now_ns += 1;
        let mut done = Vec::new();
        while let Some(action) = self.load.poll(self.now_ns) {
            done.push(match action {
                Action::Connect(number) => format!("connect {number}"),
                Action::Request { fetch, connection } => {
                    let path = self.load.request(fetch).0.to_owned();
                    self.connection_of.insert(path.clone(), connection);
                    self.requested.push(path.clone());
                    format!("{path} on {connection}")
                }
            });
        }
        done
    }

    fn connected(&mut self, number: usize) {
        let phases = Exchange { tcp_connect_ns: Some(self.now_ns), ..Exchange::default() };
        self.load.handle_connected(number, &phases);
    }

    fn fetch(&self, path: &str) -> usize {
        self.load.fetches.iter().rposition(|fetch| fetch.row.path == path).expect("it is wanted")
    }

    fn body(&mut self, path: &str, bytes: u64) {
        let fetch = self.fetch(path);
        self.load.handle_status(fetch, 200);
        self.load.handle_data(fetch, &vec![0; bytes as usize], self.now_ns);
    }

    /// The rest of the body, and the end.
    fn complete(&mut self, path: &str) {
        let fetch = self.fetch(path);
        let row = &self.load.fetches[fetch].row;
        let expected = row.resource.map_or(0, |resource| self.load.page.resources()[resource as usize].body_bytes);
        self.body(path, expected - row.body_received_bytes);
        self.end(path, Outcome::Completed);
    }

    fn end(&mut self, path: &str, outcome: Outcome) {
        self.now_ns += 1;
        let error = (outcome == Outcome::Failed).then(|| "broken".to_owned());
        let request_start_ns = Some(self.now_ns - 1);
        let first_response_byte_ns = (outcome == Outcome::Completed).then_some(self.now_ns);
        let stamps = Exchange {
            outcome,
            error,
            request_start_ns,
            first_response_byte_ns,
            end_ns: self.now_ns,
            ..Exchange::default()
        };
        self.load.handle_end(self.fetch(path), &stamps);
    }

    fn ended(self) -> Ended {
        self.load.finish(self.now_ns + 1)
    }
}

#[test]
fn a_resource_is_requested_as_soon_as_the_bytes_that_name_it_are_there() {
    let mut dialogue = Dialogue::new(gallery(), HTTP2);
    assert_eq!(dialogue.does(), ["connect 0"]);
    dialogue.connected(0);
    assert_eq!(dialogue.does(), ["/index.html on 0"]);
    dialogue.body("/index.html", 19);
    assert!(dialogue.does().is_empty());
    dialogue.body("/index.html", 1);
    assert_eq!(dialogue.does(), ["/a.css on 0"]);
    dialogue.body("/index.html", 12);
    assert_eq!(dialogue.does(), ["/0.jpg on 0", "/1.jpg on 0", "/2.jpg on 0"]);
    dialogue.complete("/a.css");
    assert_eq!(dialogue.does(), ["/f.woff2 on 0"]);
    assert_eq!(dialogue.load.request(dialogue.fetch("/0.jpg")).1.map(|priority| priority.urgency), Some(2));
}

#[test]
fn over_http1_six_requests_go_and_the_other_images_once_the_stylesheet_is_there() {
    let mut dialogue = Dialogue::new(gallery(), HTTP1);
    assert_eq!(dialogue.does(), ["connect 0"]);
    dialogue.connected(0);
    assert_eq!(dialogue.does(), ["/index.html on 0"]);
    assert_eq!(dialogue.load.request(0).1, None, "who cannot overlap says no priority");
    dialogue.body("/index.html", 40);
    // The stylesheet and five images.
    assert_eq!(dialogue.does(), [1, 2, 3, 4, 5].map(|number| format!("connect {number}")));
    dialogue.connected(1);
    assert_eq!(dialogue.does(), ["/a.css on 1"]);
    // The document's connection is free before the others are there.
    dialogue.complete("/index.html");
    assert_eq!(dialogue.does(), ["/0.jpg on 0"]);
    dialogue.complete("/a.css");
    // A font is more urgent than images; those that were held back are seen, and go before those that wait for a connection.
    assert_eq!(dialogue.does(), ["/f.woff2 on 1"]);
    for connection in 2..6 {
        dialogue.connected(connection);
    }
    assert_eq!(dialogue.does(), ["/5.jpg on 2", "/6.jpg on 3", "/7.jpg on 4", "/1.jpg on 5"]);
    dialogue.complete("/6.jpg");
    assert_eq!(dialogue.does(), ["/2.jpg on 3"]);
    for path in ["/0.jpg", "/1.jpg", "/2.jpg", "/5.jpg", "/7.jpg", "/f.woff2"] {
        dialogue.complete(path);
    }
    dialogue.does();
    for path in ["/3.jpg", "/4.jpg"] {
        assert!(!dialogue.load.is_over());
        dialogue.complete(path);
    }
    assert!(dialogue.load.is_over());
    let ended = dialogue.ended();
    assert_eq!((ended.outcome, ended.connections, ended.body_bytes), (Outcome::Completed, 6, 515));
    assert_eq!(ended.end_ns, ended.rows.iter().map(|row| row.end_ns).max().expect("rows"));
    let opened = ended.rows.iter().filter(|row| row.connect_start_ns.is_some()).count();
    assert_eq!(opened, 6, "each connection's opening is in the row of its first request");
    assert!(ended.rows.iter().all(|row| row.connection_reused != row.connect_start_ns.is_some()));
}

#[test]
fn six_requests_are_sent_until_the_server_is_known_to_have_http3() {
    for said in [false, true] {
        let mut dialogue = Dialogue::new(gallery(), HTTP3);
        dialogue.does();
        dialogue.connected(0);
        dialogue.does();
        if said {
            dialogue.load.handle_http3();
        }
        dialogue.complete("/index.html");
        assert_eq!(dialogue.does().len(), if said { 9 } else { 6 });
        dialogue.complete("/a.css");
        let rest = ["/f.woff2 on 0", "/5.jpg on 0", "/6.jpg on 0", "/7.jpg on 0"];
        assert_eq!(dialogue.does(), if said { &rest[..1] } else { &rest[..] });
        let urgencies = ["/0.jpg", "/4.jpg", "/5.jpg", "/6.jpg"].map(|path| {
            dialogue.load.request(dialogue.fetch(path)).1.map(|priority| priority.urgency).expect("it is said")
        });
        assert_eq!(urgencies, if said { [2, 2, 3, 3] } else { [2, 2, 1, 1] });
    }
}

#[test]
fn images_named_by_hints_are_not_discovered_before_the_document() {
    let images = (0..8).map(|image| resource("/", &format!("{image}.jpg"), 9, Some(0), 5, ResourceKind::Image));
    let document = resource("/", "index.html", 100, None, 0, ResourceKind::Document);
    let mut dialogue = Dialogue::new(page([document].into_iter().chain(images).collect()), HTTP3);
    dialogue.does();
    dialogue.connected(0);
    dialogue.does();
    for image in 0..8 {
        dialogue.load.handle_hint(&format!("/{image}.jpg"), 5);
    }
    assert_eq!(dialogue.does().len(), 6);
    dialogue.body("/index.html", 1);
    assert_eq!(dialogue.does(), ["/6.jpg on 0", "/7.jpg on 0"]);
    let row = &dialogue.load.fetches[dialogue.fetch("/6.jpg")].row;
    assert_eq!((row.found_by, row.urgency), (FoundBy::Hint, Some(1)));
    assert_eq!(dialogue.load.fetches[dialogue.fetch("/0.jpg")].row.urgency, Some(3));
}

#[test]
fn a_hint_makes_known_what_no_byte_has_named() {
    let mut dialogue = Dialogue::new(gallery(), HTTP2);
    dialogue.does();
    dialogue.connected(0);
    dialogue.does();
    dialogue.load.handle_hint("/f.woff2", 5);
    dialogue.load.handle_hint("/elsewhere.png", 5);
    assert_eq!(dialogue.does(), ["/f.woff2 on 0"]);
    let row = &dialogue.load.fetches[dialogue.fetch("/f.woff2")].row;
    assert_eq!((row.found_by, row.discovered_ns), (FoundBy::Hint, 5));
}

#[test]
fn a_promised_resource_is_not_requested_and_a_push_of_a_requested_one_is_wasted() {
    let mut dialogue = Dialogue::new(gallery(), HTTP2);
    dialogue.does();
    dialogue.connected(0);
    dialogue.does();
    dialogue.body("/index.html", 20);
    assert_eq!(dialogue.does(), ["/a.css on 0"]);
    for path in ["/a.css", "/0.jpg", "/unknown"] {
        dialogue.load.handle_promise(path, 0, 7);
    }
    dialogue.body("/index.html", 12);
    assert_eq!(dialogue.does(), ["/1.jpg on 0", "/2.jpg on 0"]);
    // The later of the two is the pushed one.
    dialogue.body("/a.css", 10);
    dialogue.end("/a.css", Outcome::Completed);
    dialogue.body("/unknown", 3);
    dialogue.complete("/0.jpg");
    let ended = dialogue.ended();
    assert_eq!((ended.pushed_bytes, ended.wasted_pushed_bytes), (63, 13));
    let used: Vec<_> = ended.rows.iter().filter(|row| row.pushed && row.resource.is_some()).collect();
    assert_eq!((used.len(), used[0].found_by, used[0].urgency), (1, FoundBy::Push, None));
    assert_eq!(used[0].outcome, Outcome::Completed);
}
