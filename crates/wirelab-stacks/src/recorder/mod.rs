//! Where a client's exchanges go. It measures nothing.

mod read;
mod table;

use std::path::Path;

use wirelab_schema::{Exchange, Extension, ResourceTiming, WorkloadSpec};

use crate::StackError;
pub use read::{Recorded, read};
use table::Table;

/// Takes exchanges in the order in which they end.
pub trait Recorder: Send {
    /// Take one.
    fn record(&mut self, exchange: Exchange) -> Result<(), StackError>;

    /// Take a resource of a page load.
    fn record_resource(&mut self, resource: ResourceTiming) -> Result<(), StackError>;

    /// No more will come: make them durable.
    fn finish(&mut self) -> Result<(), StackError>;
}

/// Of who has nothing to record.
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn record(&mut self, _exchange: Exchange) -> Result<(), StackError> {
        Ok(())
    }

    fn record_resource(&mut self, _resource: ResourceTiming) -> Result<(), StackError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StackError> {
        Ok(())
    }
}

/// Writes `exchanges.arrow`, and of a workload with resources `resources.arrow` (Arrow IPC files), into a folder.
pub struct ArrowRecorder {
    exchanges: Table<Exchange>,
    resources: Option<Table<ResourceTiming>>,
}

impl ArrowRecorder {
    /// A recorder into `folder`, which must exist, of rows with the columns of `workload`.
    pub fn new(folder: &Path, workload: &WorkloadSpec) -> Self {
        let resources = matches!(workload, WorkloadSpec::Page(_)).then(|| Table::new(folder, ()));
        ArrowRecorder { exchanges: Table::new(folder, Extension::of(workload)), resources }
    }
}

impl Recorder for ArrowRecorder {
    fn record(&mut self, exchange: Exchange) -> Result<(), StackError> {
        self.exchanges.add(exchange)
    }

    fn record_resource(&mut self, resource: ResourceTiming) -> Result<(), StackError> {
        match &mut self.resources {
            Some(resources) => resources.add(resource),
            None => Err(StackError::failed("resources", "the workload has none")),
        }
    }

    /// The exchanges come last: where they are, all is.
    fn finish(&mut self) -> Result<(), StackError> {
        if let Some(resources) = &mut self.resources {
            resources.finish()?;
        }
        self.exchanges.finish()
    }
}
