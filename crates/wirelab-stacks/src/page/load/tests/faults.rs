//! Tests: loads that fail or time out.

use super::*;

/// A dialogue over one version of HTTP whose document is being read.
fn navigated(rules: Rules) -> Dialogue {
    let mut dialogue = Dialogue::new(gallery(), rules);
    dialogue.does();
    dialogue.connected(0);
    dialogue.does();
    dialogue
}

#[test]
fn a_failed_resource_is_named_and_fails_what_only_it_refers_to() {
    let mut dialogue = navigated(HTTP1);
    dialogue.complete("/index.html");
    assert_eq!(dialogue.does()[0], "/a.css on 0");
    let stylesheet = dialogue.fetch("/a.css");
    dialogue.load.handle_status(stylesheet, 404);
    dialogue.end("/a.css", Outcome::Completed);
    // Rendering waits no longer for what cannot come.
    assert_eq!(dialogue.does(), ["/0.jpg on 0"]);
    for connection in 1..6 {
        dialogue.connected(connection);
    }
    dialogue.does();
    for image in 0..8 {
        dialogue.complete(&format!("/{image}.jpg"));
        dialogue.does();
    }
    assert!(dialogue.load.is_over());
    let ended = dialogue.ended();
    assert_eq!(ended.outcome, Outcome::Failed);
    assert_eq!(ended.error.as_deref(), Some("not loaded: /a.css (status 404)"));
}

#[test]
fn a_body_that_is_not_the_manifests_has_failed() {
    let mut dialogue = navigated(HTTP2);
    dialogue.load.handle_status(0, 200);
    dialogue.load.handle_data(0, &[1; 100], 1);
    dialogue.end("/index.html", Outcome::Completed);
    assert!(dialogue.ended().rows[0].error.as_deref().is_some_and(|error| error.contains("SHA-256")));
}

#[test]
fn a_load_that_times_out_names_five_open_resources() {
    let mut dialogue = navigated(HTTP2);
    dialogue.complete("/index.html");
    dialogue.does();
    dialogue.complete("/a.css");
    dialogue.does();
    let ended = dialogue.ended();
    assert_eq!(ended.outcome, Outcome::TimedOut);
    let error = ended.error.expect("an error");
    assert_eq!(error, "open: /0.jpg, /1.jpg, /2.jpg, /3.jpg, /4.jpg and 4 more");
    assert_eq!(ended.rows.iter().filter(|row| row.outcome == Outcome::TimedOut).count(), 9);
}

#[test]
fn a_persistent_connection_that_was_closed_meanwhile_takes_one_more_request() {
    let mut dialogue = navigated(HTTP1);
    dialogue.complete("/index.html");
    dialogue.does();
    dialogue.end("/a.css", Outcome::Failed);
    dialogue.connected(1);
    assert_eq!(dialogue.does()[0], "/a.css on 1");
    dialogue.end("/a.css", Outcome::Failed);
    assert_eq!(dialogue.load.fetches[dialogue.fetch("/a.css")].row.outcome, Outcome::Failed);
}

#[test]
fn failed_connections_end_the_load() {
    for rules in [HTTP1, HTTP2, HTTP3] {
        let mut dialogue = Dialogue::new(gallery(), rules);
        assert_eq!(dialogue.does(), ["connect 0"]);
        let refused = Exchange { error: Some("refused".to_owned()), ..Exchange::default() };
        dialogue.load.handle_not_connected(0, &refused);
        assert!(dialogue.load.is_over());
        assert_eq!(dialogue.ended().error.as_deref(), Some("not loaded: /index.html (refused)"));
    }
}

#[test]
fn requests_that_wait_for_a_failed_shared_connection_fail_together() {
    let mut dialogue = navigated(HTTP2);
    dialogue.complete("/index.html");
    dialogue.load.handle_gone(0);
    assert_eq!(dialogue.does(), ["connect 1"]);
    let refused = Exchange { error: Some("refused".to_owned()), ..Exchange::default() };
    dialogue.load.handle_not_connected(1, &refused);
    assert!(dialogue.does().is_empty() && dialogue.load.is_over());
    let ended = dialogue.ended();
    assert_eq!(ended.rows.iter().filter(|row| row.error.as_deref() == Some("refused")).count(), 9);
    assert_eq!(ended.rows.iter().filter(|row| row.connection == Some(1)).count(), 1, "it was begun for one");
}

#[test]
fn requests_on_a_broken_shared_connection_are_repeated_once_on_another() {
    for rules in [HTTP2, HTTP3] {
        let mut dialogue = navigated(rules);
        dialogue.body("/index.html", 32);
        assert_eq!(dialogue.does(), ["/a.css on 0", "/0.jpg on 0", "/1.jpg on 0", "/2.jpg on 0"]);
        dialogue.end("/2.jpg", Outcome::Failed);
        assert_eq!(dialogue.does(), [""; 0], "the server failed one request and goes on with the others");
        dialogue.load.handle_gone(0);
        dialogue.complete("/index.html");
        for path in ["/a.css", "/0.jpg", "/1.jpg"] {
            dialogue.end(path, Outcome::Failed);
        }
        assert_eq!(dialogue.does(), ["connect 1"]);
        dialogue.connected(1);
        assert_eq!(dialogue.does()[..3], ["/a.css on 1", "/0.jpg on 1", "/1.jpg on 1"]);
        dialogue.load.handle_gone(1);
        dialogue.end("/0.jpg", Outcome::Failed);
        assert_eq!(dialogue.load.fetches[dialogue.fetch("/0.jpg")].row.outcome, Outcome::Failed);
        assert_eq!(dialogue.load.fetches[dialogue.fetch("/0.jpg")].state, State::Ended);
    }
}

#[test]
fn a_push_that_breaks_off_is_wasted_and_its_resource_is_requested() {
    let mut dialogue = navigated(HTTP2);
    let pushed = dialogue.load.handle_promise("/a.css", 0, 7).expect("taken");
    dialogue.body("/a.css", 4);
    dialogue.end("/a.css", Outcome::Failed);
    assert_eq!(dialogue.does(), ["/a.css on 0"]);
    dialogue.complete("/index.html");
    assert!(!dialogue.does().contains(&"/a.css on 0".to_owned()));
    dialogue.load.handle_promise("/a.css", 0, 9).expect("taken");
    assert_eq!(dialogue.does(), [""; 0]);
    let rows: Vec<_> = dialogue.load.fetches.iter().map(|fetch| &fetch.row).collect();
    assert_eq!((rows[pushed].resource, rows[pushed].outcome), (None, Outcome::Failed));
    let asked = rows.iter().position(|row| row.resource == Some(1)).expect("it is wanted");
    assert_eq!((rows[asked].pushed, rows[asked].found_by, rows[asked].discovered_ns), (false, FoundBy::Push, 7));
    assert_eq!(dialogue.ended().wasted_pushed_bytes, 4);
}

#[test]
fn pushes_without_use_are_refused_when_there_are_many() {
    let mut dialogue = navigated(HTTP2);
    let promise = |dialogue: &mut Dialogue, path: &str| dialogue.load.handle_promise(path, 0, 1);
    let taken = (0..2_000).filter(|number| promise(&mut dialogue, &format!("/unknown/{number}")).is_some()).count();
    assert_eq!(taken, 1_000);
    assert!(promise(&mut dialogue, "/a.css").is_some(), "what the page has is still taken");
}
