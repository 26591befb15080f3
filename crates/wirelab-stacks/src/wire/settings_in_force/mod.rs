//! What both ends of our connections announce of their settings and what each makes of it, read off what passes at this end. Of a connection between
//! two programs of others it knows nothing, and it judges nothing.

mod http2;
mod quic;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use wirelab_schema::{SettingSeen, SettingsSeen};

use crate::StackError;
use crate::wire::tap::Observer;
pub use http2::Http2Connection;
pub use quic::QuicConnection;

/// The file in an endpoint's folder.
pub const FILE: &str = "settings-seen.json";

/// The connections of one endpoint.
#[derive(Clone)]
pub struct Connections {
    path: PathBuf,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    live: Vec<Arc<Mutex<dyn Watched>>>,
    sum: SettingsSeen,
}

/// What has seen one connection at one of its ends.
pub trait Watched: Send {
    /// What it comes to.
    fn in_force(&self) -> SettingsSeen;
}

/// Watches the bytes of one connection of HTTP/2 at one of its ends.
pub struct Http2Watch {
    /// 0 at a client, 1 at a server.
    own: usize,
    connection: Http2Connection,
}

impl Connections {
    /// Of an endpoint that writes into `folder`.
    pub fn new(folder: &Path) -> Self {
        Connections { path: folder.join(FILE), kept: Arc::default() }
    }

    /// One more, which counts until nobody else holds it.
    pub fn watch<W: Watched + 'static>(&self, watch: W) -> Arc<Mutex<W>> {
        let watch = Arc::new(Mutex::new(watch));
        let mut kept = self.kept.lock().expect("no holder panics");
        // Those that have ended, each time: many together would hold up one connection in so many.
        kept.fold(|watch| Arc::strong_count(watch) == 1);
        kept.live.push(watch.clone());
        watch
    }

    /// Writes what was seen, if anything was.
    pub fn write(&self) -> Result<(), StackError> {
        let mut kept = self.kept.lock().expect("no holder panics");
        kept.fold(|_| true);
        if kept.sum.connections == 0 {
            return Ok(());
        }
        let text = serde_json::to_string(&kept.sum).expect("plain data");
        fs::write(&self.path, text).map_err(|error| StackError::failed(self.path.display(), error))
    }
}

impl Kept {
    fn fold(&mut self, ended: impl Fn(&Arc<Mutex<dyn Watched>>) -> bool) {
        let (over, live) = std::mem::take(&mut self.live).into_iter().partition(ended);
        self.live = live;
        for watch in over {
            add(&mut self.sum, &watch.lock().expect("no holder panics").in_force());
        }
    }
}

impl Http2Watch {
    /// At the client of a connection that begins.
    pub fn of_client() -> Self {
        Http2Watch { own: 0, connection: Http2Connection::new() }
    }

    /// At the server of a connection that begins.
    pub fn of_server() -> Self {
        Http2Watch { own: 1, connection: Http2Connection::new() }
    }
}

impl Watched for Http2Watch {
    fn in_force(&self) -> SettingsSeen {
        self.connection.in_force()
    }
}

impl Observer for Http2Watch {
    fn written(&mut self, bytes: &[u8], _now_ns: u64) {
        self.connection.passed(self.own, bytes);
    }

    fn read(&mut self, bytes: &[u8], _now_ns: u64) {
        self.connection.passed(1 - self.own, bytes);
    }
}

/// Adds what other connections were seen to say.
fn add(sum: &mut SettingsSeen, other: &SettingsSeen) {
    sum.connections += other.connections;
    add_side(&mut sum.client, &other.client);
    add_side(&mut sum.server, &other.server);
}

/// The same of one end.
fn add_side(sum: &mut BTreeMap<String, SettingSeen>, other: &BTreeMap<String, SettingSeen>) {
    for (name, seen) in other {
        let known = sum.entry(name.clone()).or_default();
        known.announced = wider(known.announced, seen.announced);
        known.effective = wider(known.effective, seen.effective);
        known.used = known.used.max(seen.used);
    }
}

fn wider(one: Option<[u64; 2]>, other: Option<[u64; 2]>) -> Option<[u64; 2]> {
    match (one, other) {
        (Some([low, high]), Some([least, most])) => Some([low.min(least), high.max(most)]),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_force(announced: Option<[u64; 2]>, used: u64) -> SettingsSeen {
        let setting = SettingSeen { announced, effective: None, used: Some(used) };
        SettingsSeen { connections: 1, client: [("window".to_owned(), setting)].into(), ..SettingsSeen::default() }
    }

    #[test]
    fn connections_add_up_to_the_range_of_what_was_announced_and_the_most_that_was_used() {
        let mut sum = SettingsSeen::default();
        for (announced, used) in [(Some([7, 7]), 3), (None, 5), (Some([4, 4]), 1)] {
            add(&mut sum, &in_force(announced, used));
        }
        let expected = SettingSeen { announced: Some([4, 7]), effective: None, used: Some(5) };
        assert_eq!((sum.connections, sum.client["window"]), (3, expected));
    }

    #[test]
    fn an_endpoint_without_a_connection_writes_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let connections = Connections::new(folder.path());
        connections.write().expect("nothing to write");
        assert!(!folder.path().join(FILE).exists());
        for _ in 0..100 {
            drop(connections.watch(Http2Watch::of_server()));
        }
        connections.write().expect("a folder that is there");
        let text = fs::read_to_string(folder.path().join(FILE)).expect("written");
        let seen: SettingsSeen = serde_json::from_str(&text).expect("plain data");
        assert_eq!(seen.connections, 100);
    }
}
