//! The order of a load's requests, as Chromium has it. It sends nothing.

use std::iter::successors;
use std::ops::{Index, IndexMut};

use wirelab_schema::{Exchange, FoundBy, ResourceKind, ResourceTiming};

use super::{Load, Priority, Rules, State};

/// Images of a document that are more urgent than others: Chromium's `kBoostImagePriorityImageCount`.
const FIRST_IMAGES: usize = 5;

impl Load {
    /// What a request is to say when it is found. Whether an image is small (`kBoostImagePriorityImageSize`) a manifest does not say.
    pub fn first_priority(&mut self, resource: usize, found_by: FoundBy) -> Priority {
        let resources = self.page.resources();
        let priority = Priority::of(&resources[resource]);
        let of_document = resources[resource].parent.map(|parent| resources[parent as usize].kind);
        let counts = of_document == Some(ResourceKind::Document) && found_by == FoundBy::Body;
        if resources[resource].kind != ResourceKind::Image || !counts {
            return priority;
        }
        self.images += 1;
        if self.images <= FIRST_IMAGES { Priority::FIRST_IMAGE } else { priority }
    }

    /// Takes the images still held back to be seen, once the first rendering waits for nothing; whether there are any. A browser lays the page out
    /// after it has used what became free meanwhile.
    pub fn see_images(&mut self) -> bool {
        if self.rendering_waits() {
            return false;
        }
        let is_image = |resource: u32| self.page.resources()[resource as usize].kind == ResourceKind::Image;
        let held = self.fetches.iter_mut().filter(|fetch| fetch.state == State::Held);
        let mut any = false;
        for fetch in held.filter(|fetch| fetch.row.resource.is_some_and(is_image)) {
            fetch.priority = Some(Priority::SEEN_IMAGE);
            any = true;
        }
        any
    }

    /// Lets go what need not wait: what is urgent, and the rest while few requests are under way.
    pub fn release(&mut self) {
        // The document is another client's to Chromium's scheduler.
        let under_way =
            [State::Waiting, State::Busy].map(|state| self.in_state(state).filter(|fetch| *fetch > 0).count());
        let mut room = self.rules.concurrent.saturating_sub(under_way.iter().sum());
        for fetch in self.by_urgency(State::Held) {
            if !self.is_delayable(fetch) || room > 0 {
                self.fetches[fetch].state = State::Waiting;
                room = room.saturating_sub(1);
            }
        }
    }

    /// The fetches that wait for a connection, in the order in which they get it: as they were discovered; where the server is not told what is
    /// urgent, by urgency first.
    pub fn startable(&self) -> Vec<usize> {
        if self.rules.overlap { self.in_state(State::Waiting).collect() } else { self.by_urgency(State::Waiting) }
    }

    /// Of the same urgency in the order of discovery.
    fn by_urgency(&self, state: State) -> Vec<usize> {
        let mut fetches: Vec<usize> = self.in_state(state).collect();
        fetches.sort_by_key(|fetch| self.fetches[*fetch].priority.map(|priority| priority.urgency));
        fetches
    }

    fn in_state(&self, state: State) -> impl Iterator<Item = usize> {
        self.fetches.iter().enumerate().filter(move |(_, fetch)| fetch.state == state).map(|(index, _)| index)
    }

    fn is_delayable(&self, fetch: usize) -> bool {
        self.fetches[fetch].priority.is_some_and(|priority| priority.is_delayable())
    }

    /// Whether something that blocks rendering is under way, or is still to be found. Of the document, which is rendered as it comes, some is enough.
    fn rendering_waits(&self) -> bool {
        let blocking = self.page.resources().iter().enumerate().skip(1).filter(|(_, resource)| resource.blocking);
        self.fetches[0].row.body_received_bytes == 0 || blocking.into_iter().any(|(index, _)| self.may_come(index))
    }

    /// What is not known although its parent has ended never will be.
    fn may_come(&self, resource: usize) -> bool {
        let parent = |resource: &usize| self.page.resources()[*resource].parent.map(|parent| parent as usize);
        let known = successors(Some(resource), parent).find_map(|resource| self.wanted[resource]);
        known.is_some_and(|fetch| self.fetches[fetch].state != State::Ended)
    }
}

/// The connections of a load, by number.
#[derive(Default)]
pub struct Connections {
    all: Vec<Connection>,
}

/// One of them.
#[derive(Default)]
pub struct Connection {
    state: Phase,
    start_ns: u64,
    tcp_connect_ns: Option<u64>,
    handshake_ns: Option<u64>,
    /// Requests and pushes under way.
    busy: usize,
    /// How often it was taken.
    uses: usize,
}

#[derive(Default, PartialEq)]
enum Phase {
    #[default]
    Opening,
    Open,
    Gone,
}

impl Connections {
    /// How many there have been.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// How many are on their way.
    pub fn opening(&self) -> usize {
        self.all.iter().filter(|connection| connection.state == Phase::Opening).count()
    }

    /// How many there are, or are on their way.
    pub fn live(&self) -> usize {
        self.all.iter().filter(|connection| connection.state != Phase::Gone).count()
    }

    /// One that takes a request: among several the one that was used most, whose window has grown most.
    pub fn free(&self, rules: Rules) -> Option<usize> {
        let takes = |each: &&(usize, &Connection)| each.1.state == Phase::Open && (rules.overlap || each.1.busy == 0);
        let all: Vec<(usize, &Connection)> = self.all.iter().enumerate().collect();
        let most_used_first = |each: &&(usize, &Connection)| (std::cmp::Reverse(each.1.uses), each.0);
        all.iter().filter(takes).min_by_key(most_used_first).map(|(number, _)| *number)
    }

    /// One more; its number.
    pub fn open(&mut self, now_ns: u64) -> usize {
        self.all.push(Connection { start_ns: now_ns, ..Connection::default() });
        self.all.len() - 1
    }
}

impl Index<usize> for Connections {
    type Output = Connection;

    fn index(&self, number: usize) -> &Connection {
        &self.all[number]
    }
}

impl IndexMut<usize> for Connections {
    fn index_mut(&mut self, number: usize) -> &mut Connection {
        &mut self.all[number]
    }
}

impl Connection {
    /// A request goes on it; whether another did before.
    pub fn take(&mut self) -> bool {
        self.busy += 1;
        self.uses += 1;
        self.uses > 1
    }

    /// A response is pushed on it.
    pub fn handle_pushed(&mut self) {
        self.busy += 1;
    }

    /// A response on it has ended.
    pub fn release(&mut self) {
        self.busy -= 1;
    }

    /// It is there.
    pub fn handle_connected(&mut self, phases: &Exchange) {
        self.state = Phase::Open;
        (self.tcp_connect_ns, self.handshake_ns) = (phases.tcp_connect_ns, phases.handshake_ns);
    }

    /// It takes no more requests.
    pub fn handle_gone(&mut self) {
        self.state = Phase::Gone;
    }

    /// Whether it takes no more.
    pub fn is_gone(&self) -> bool {
        self.state == Phase::Gone
    }

    /// Puts the stamps of its opening into the row of its first request.
    pub fn stamp(&self, row: &mut ResourceTiming) {
        row.connect_start_ns = Some(self.start_ns);
        (row.tcp_connect_ns, row.handshake_ns) = (self.tcp_connect_ns, self.handshake_ns);
    }
}
