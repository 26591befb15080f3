//! Tests: properties of loads of any page.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// Any tree of resources of any kind.
fn pages() -> impl Strategy<Value = Arc<Page>> {
    let kinds = prop::sample::select(vec![
        ResourceKind::Document,
        ResourceKind::Stylesheet,
        ResourceKind::Script,
        ResourceKind::Image,
        ResourceKind::Font,
    ]);
    let others =
        prop::collection::vec((any::<prop::sample::Index>(), 0..=40u64, 0..60u64, kinds, any::<bool>()), 0..25);
    others.prop_map(|others| {
        let mut resources = vec![resource("/", "index.html", 40, None, 0, ResourceKind::Document)];
        for (index, (parent, at_bytes, body_bytes, kind, blocking)) in others.into_iter().enumerate() {
            let parent = parent.index(resources.len());
            let at_bytes = at_bytes.min(resources[parent].body_bytes);
            let mut next = resource("/", &index.to_string(), body_bytes, Some(parent as u32), at_bytes, kind);
            next.blocking = blocking && resources[parent].blocking;
            resources.push(next);
        }
        page(resources)
    })
}

proptest! {
    /// Whatever comes in whatever order, of everything under way a bit at a time.
    #[test]
    fn every_resource_is_fetched_once_and_the_load_ends(
        page in pages(),
        version in 0..3usize,
        pushes in prop::collection::vec(0..25usize, 0..4),
        order in prop::collection::vec(any::<prop::sample::Index>(), 2_000),
    ) {
        let rules = [HTTP1, HTTP2, HTTP3][version];
        let mut load = Load::new(page.clone(), rules, 0);
        let (mut opening, mut busy, mut requested) = (Vec::new(), Vec::new(), HashSet::new());
        let mut pushes = pushes.into_iter();
        for (now_ns, pick) in (1..).zip(order) {
            while let Some(action) = load.poll(now_ns) {
                match action {
                    Action::Connect(number) => opening.push(number),
                    Action::Request { fetch, .. } => {
                        prop_assert!(requested.insert(load.request(fetch).0.to_owned()), "asked for twice");
                        busy.push(fetch);
                    }
                }
            }
            prop_assert!(opening.len() <= rules.connections);
            prop_assert!(rules.overlap || busy.len() <= rules.connections);
            if load.is_over() {
                break;
            }
            prop_assert!(!opening.is_empty() || !busy.is_empty(), "it waits for nothing");
            let pick = pick.index(opening.len() + busy.len());
            if pick < opening.len() {
                load.handle_connected(opening.swap_remove(pick), &Exchange::default());
                continue;
            }
            let fetch = busy[pick - opening.len()];
            if rules.overlap && let Some(resource) = pushes.next() {
                busy.extend(load.handle_promise(&format!("/{resource}"), fetch, now_ns));
            }
            load.handle_status(fetch, 200);
            let row = &load.fetches[fetch].row;
            let whole = row.resource.map_or(7, |resource| page.resources()[resource as usize].body_bytes);
            match (whole - row.body_received_bytes).min(13) {
                0 => {
                    busy.swap_remove(pick - opening.len());
                    load.handle_end(fetch, &Exchange { end_ns: now_ns, outcome: Outcome::Completed, ..Exchange::default() });
                }
                part => load.handle_data(fetch, &vec![0; part as usize], now_ns),
            }
        }
        prop_assert!(load.is_over());
        let ended = load.finish(9_999);
        prop_assert_eq!(ended.outcome, Outcome::Completed);
        let mut fetched: Vec<u32> = ended.rows.iter().filter_map(|row| row.resource).collect();
        fetched.sort_unstable();
        prop_assert_eq!(fetched, (0..page.resources().len() as u32).collect::<Vec<_>>());
    }
}
