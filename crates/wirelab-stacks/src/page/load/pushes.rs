//! Pushed responses of a load, and which are refused. It receives nothing itself.

use wirelab_schema::FoundBy;

use super::{Fetch, Load, State};

/// Pushed responses without use that a load takes; what a server promises beyond is refused, so that it cannot fill the memory.
const USELESS: usize = 1000;

impl Load {
    /// A response is going to be pushed on the connection of the fetch `parent`. It is used for what is not asked for yet, and else wasted; `None`
    /// if it is to be refused.
    pub fn handle_promise(&mut self, path: &str, parent: usize, now_ns: u64) -> Option<usize> {
        let connection = self.fetches[parent].row.connection.expect("it was asked for") as usize;
        let resource = self.page.find(path);
        let fetch = match resource.map(|resource| (resource, self.wanted[resource])) {
            Some((resource, None)) => self.discover(resource, FoundBy::Push, now_ns),
            Some((_, Some(fetch))) if self.takes_push(fetch) => fetch,
            _ if self.fetches.iter().filter(|fetch| fetch.row.resource.is_none()).count() >= USELESS => return None,
            _ => self.add(None, path.to_owned(), FoundBy::Push, now_ns),
        };
        self.connections[connection].handle_pushed();
        let Fetch { row, priority, state, .. } = &mut self.fetches[fetch];
        row.connection = Some(connection as u32);
        (row.connection_reused, row.pushed) = (true, true);
        (*priority, *state) = (None, State::Busy);
        Some(fetch)
    }

    /// Asks for what a push that broke off was of, which is then without use: a promise that is taken back is no answer (RFC 9113, section 8.4.2).
    pub fn ask_instead(&mut self, pushed: usize) {
        let row = &mut self.fetches[pushed].row;
        let Some(resource) = row.resource.take().map(|resource| resource as usize) else { return };
        let (found_by, discovered_ns) = (row.found_by, row.discovered_ns);
        self.wanted[resource] = None;
        let asked = self.discover(resource, found_by, discovered_ns);
        self.fetches[asked].retried = true;
    }

    fn takes_push(&self, fetch: usize) -> bool {
        let Fetch { state, retried, .. } = self.fetches[fetch];
        matches!(state, State::Held | State::Waiting) && !retried
    }
}
