//! Traces of QUIC connections in the qlog format. It reads none.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use quinn::{QlogConfig, QlogStream, TransportConfig};
use wirelab_schema::Role;

/// Writes a trace of each QUIC connection (qlog as JSON-SEQ: packets sent, received and lost, congestion control) into the folder that the variable
/// `QLOGDIR` names, `docs/contract.md`; without it, none.
pub struct Traces {
    folder: Option<PathBuf>,
    role: Role,
    connections: AtomicU32,
}

impl Traces {
    /// As the environment says.
    pub fn of(role: Role) -> Self {
        let folder = std::env::var_os("QLOGDIR").filter(|folder| !folder.is_empty());
        Traces { folder: folder.map(PathBuf::from), role, connections: AtomicU32::new(0) }
    }

    /// True if connections have a trace.
    pub fn are_wanted(&self) -> bool {
        self.folder.is_some()
    }

    /// Trace the next connection, which is not open yet; `client_port` leads from both ends' files to its packets.
    pub fn begin(&self, transport: &mut TransportConfig, client_port: u16) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        let file = File::create(folder.join(format!("{number:05}-port-{client_port}.sqlog")))?;
        transport.qlog_stream(self.stream(file));
        Ok(())
    }

    fn stream(&self, file: File) -> Option<QlogStream> {
        let mut config = QlogConfig::default();
        let title = match self.role {
            Role::Client | Role::Publisher | Role::Proxy => "client",
            Role::Server => "server",
        };
        config.writer(Box::new(BufWriter::new(file))).title(Some(title.to_owned()));
        config.into_stream()
    }
}
