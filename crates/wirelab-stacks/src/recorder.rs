//! Where a client's exchanges go.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use wirelab_schema::{Exchange, Outcome};

use crate::StackError;

const BATCH: usize = 256;

/// Takes exchanges in the order in which they end.
pub trait Recorder: Send {
    /// Take one.
    fn record(&mut self, exchange: Exchange) -> Result<(), StackError>;

    /// No more will come: make them durable.
    fn finish(&mut self) -> Result<(), StackError>;
}

/// Of who has nothing to record.
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn record(&mut self, _exchange: Exchange) -> Result<(), StackError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StackError> {
        Ok(())
    }
}

/// Writes `exchanges.arrow` (Arrow IPC file) into a folder.
///
/// Batches of 256 go to `exchanges.arrow.partial` as they fill, which is renamed by [`finish`](Recorder::finish): a file of the final name is
/// complete. Batches are not smaller because writing one holds up the exchanges under way. Nothing is created before the first batch or the finish.
pub struct ArrowRecorder {
    folder: PathBuf,
    pending: Vec<Exchange>,
    writer: Option<FileWriter<File>>,
}

impl ArrowRecorder {
    /// A recorder into `folder`, which must exist.
    pub fn new(folder: &Path) -> Self {
        ArrowRecorder { folder: folder.to_owned(), pending: Vec::new(), writer: None }
    }

    fn partial(&self) -> PathBuf {
        self.folder.join("exchanges.arrow.partial")
    }

    fn flush(&mut self) -> Result<(), StackError> {
        let path = self.partial();
        let batch = batch(&self.pending).map_err(|error| StackError::failed("exchanges as Arrow", error))?;
        let written = match &mut self.writer {
            Some(writer) => writer.write(&batch),
            None => File::create(&path)
                .map_err(ArrowError::from)
                .and_then(|file| FileWriter::try_new(file, &batch.schema()))
                .and_then(|writer| self.writer.insert(writer).write(&batch)),
        };
        self.pending.clear();
        written.map_err(|error| StackError::failed(path.display(), error))
    }
}

impl Recorder for ArrowRecorder {
    fn record(&mut self, exchange: Exchange) -> Result<(), StackError> {
        self.pending.push(exchange);
        if self.pending.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), StackError> {
        self.flush()?;
        let partial = self.partial();
        if let Some(mut writer) = self.writer.take() {
            let finished = writer.finish().and_then(|()| writer.get_ref().sync_all().map_err(ArrowError::from));
            finished.map_err(|error| StackError::failed(partial.display(), error))?;
        }
        let path = self.folder.join("exchanges.arrow");
        fs::rename(&partial, &path).map_err(|error| StackError::failed(path.display(), error))
    }
}

/// The exchanges as one batch, with the columns of [`Exchange`] in its order.
fn batch(exchanges: &[Exchange]) -> Result<RecordBatch, ArrowError> {
    let rows = exchanges;
    let column = |name, array: ArrayRef, nullable| (name, array, nullable);
    macro_rules! always {
        ($name:ident, $array:ty) => {
            column(
                stringify!($name),
                Arc::new(<$array>::from_iter_values(rows.iter().map(|row| row.$name))) as ArrayRef,
                false,
            )
        };
    }
    macro_rules! maybe {
        ($name:ident, $array:ty) => {
            column(stringify!($name), Arc::new(<$array>::from_iter(rows.iter().map(|row| row.$name))) as ArrayRef, true)
        };
    }
    let outcome = StringArray::from_iter_values(rows.iter().map(|row| outcome_word(row.outcome)));
    let error = StringArray::from_iter(rows.iter().map(|row| row.error.as_deref()));
    let reused: BooleanArray = rows.iter().map(|row| Some(row.connection_reused)).collect();
    let resumed: BooleanArray = rows.iter().map(|row| row.resumed).collect();
    let early_data: BooleanArray = rows.iter().map(|row| row.early_data).collect();
    RecordBatch::try_from_iter_with_nullable([
        always!(index, UInt32Array),
        always!(client, UInt32Array),
        always!(intended_start_ns, UInt64Array),
        always!(start_ns, UInt64Array),
        maybe!(name_lookup_ns, UInt64Array),
        maybe!(tcp_connect_ns, UInt64Array),
        maybe!(handshake_ns, UInt64Array),
        maybe!(request_start_ns, UInt64Array),
        maybe!(first_body_sent_ns, UInt64Array),
        maybe!(first_response_byte_ns, UInt64Array),
        maybe!(first_final_byte_ns, UInt64Array),
        always!(end_ns, UInt64Array),
        column("outcome", Arc::new(outcome), false),
        column("error", Arc::new(error), true),
        maybe!(status, UInt16Array),
        always!(body_sent_bytes, UInt64Array),
        always!(body_received_bytes, UInt64Array),
        maybe!(local_port, UInt16Array),
        column("connection_reused", Arc::new(reused), false),
        column("resumed", Arc::new(resumed), true),
        column("early_data", Arc::new(early_data), true),
        maybe!(client_retransmissions, UInt32Array),
        maybe!(smoothed_rtt_ns, UInt64Array),
        maybe!(curl_starttransfer_ns, UInt64Array),
        maybe!(copies, UInt32Array),
    ])
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed => "failed",
        Outcome::TimedOut => "timed-out",
        Outcome::Unsupported => "unsupported",
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use arrow_ipc::reader::FileReader;

    use super::*;

    fn read(folder: &Path) -> Vec<RecordBatch> {
        let file = File::open(folder.join("exchanges.arrow")).expect("the file is there");
        FileReader::try_new(file, None).expect("an Arrow file").collect::<Result<_, _>>().expect("readable batches")
    }

    #[test]
    fn columns_are_the_fields_of_exchange_in_their_order() {
        let json = serde_json::to_string(&Exchange::default()).expect("JSON");
        // The text keeps the declared order, which a parsed object would not.
        let names: Vec<&str> = json.split(['{', ',']).filter_map(|field| field.split('"').nth(1)).collect();
        let batch = batch(&[Exchange::default()]).expect("a batch");
        let schema = batch.schema();
        assert_eq!(schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), names);
    }

    #[test]
    fn an_endpoint_without_exchanges_leaves_an_empty_file() {
        let folder = tempfile::tempdir().expect("a folder");
        ArrowRecorder::new(folder.path()).finish().expect("written");
        assert_eq!(read(folder.path()).iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    }

    #[test]
    fn every_exchange_is_read_back_and_a_missing_phase_is_null() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut recorder = ArrowRecorder::new(folder.path());
        for index in 0..600 {
            let handshake_ns = (index % 2 == 0).then_some(u64::from(index));
            recorder.record(Exchange { index, handshake_ns, ..Exchange::default() }).expect("recorded");
        }
        recorder.finish().expect("written");
        let batches = read(folder.path());
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 600);
        let handshake = batches[0].column_by_name("handshake_ns").expect("the column");
        assert!(handshake.is_null(1));
        assert_eq!(handshake.as_primitive::<UInt64Type>().value(2), 2);
        assert!(!folder.path().join("exchanges.arrow.partial").exists());
    }
}
