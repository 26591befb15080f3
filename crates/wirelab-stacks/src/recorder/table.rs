//! Rows as Arrow tables. It reads none.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use serde::Serialize;
use wirelab_schema::{Exchange, ResourceTiming};

use crate::StackError;

const BATCH: usize = 256;

/// A row of a table that a client leaves.
pub trait Row: Default + Serialize {
    /// The table's name.
    const TABLE: &'static str;

    /// Its columns, with the fields' names and in their order.
    fn batch(rows: &[Self]) -> Result<RecordBatch, ArrowError>;
}

/// Writes one table as an Arrow IPC file into a folder.
///
/// Batches of 256 go to a file `.partial` as they fill, which is renamed by [`finish`](Table::finish): a file of the final name is complete.
/// Batches are not smaller because writing one holds up the exchanges under way. Nothing is created before the first batch or the finish.
pub struct Table<R> {
    folder: PathBuf,
    pending: Vec<R>,
    writer: Option<FileWriter<BufWriter<File>>>,
}

impl<R: Row> Table<R> {
    /// In `folder`, which must exist.
    pub fn new(folder: &Path) -> Self {
        Table { folder: folder.to_owned(), pending: Vec::new(), writer: None }
    }

    /// One more row.
    pub fn add(&mut self, row: R) -> Result<(), StackError> {
        self.pending.push(row);
        if self.pending.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    /// No more will come.
    pub fn finish(&mut self) -> Result<(), StackError> {
        self.flush()?;
        let partial = self.partial();
        if let Some(mut writer) = self.writer.take() {
            let finished =
                writer.finish().and_then(|()| writer.get_ref().get_ref().sync_all().map_err(ArrowError::from));
            finished.map_err(|error| StackError::failed(partial.display(), error))?;
        }
        let path = self.folder.join(format!("{}.arrow", R::TABLE));
        fs::rename(&partial, &path).map_err(|error| StackError::failed(path.display(), error))
    }

    fn partial(&self) -> PathBuf {
        self.folder.join(format!("{}.arrow.partial", R::TABLE))
    }

    fn flush(&mut self) -> Result<(), StackError> {
        let path = self.partial();
        let batch =
            R::batch(&self.pending).map_err(|error| StackError::failed(format!("{} as Arrow", R::TABLE), error))?;
        let written = match &mut self.writer {
            Some(writer) => writer.write(&batch),
            None => File::create(&path)
                .map_err(ArrowError::from)
                .and_then(|file| FileWriter::try_new_buffered(file, &batch.schema()))
                .and_then(|writer| self.writer.insert(writer).write(&batch)),
        };
        self.pending.clear();
        written.map_err(|error| StackError::failed(path.display(), error))
    }
}

/// A column whose values are never null, of numbers or of words.
macro_rules! always {
    ($rows:ident, $name:ident, $array:ty) => {
        always!($rows, $name, $array, |row| row.$name)
    };
    ($rows:ident, $name:ident, $array:ty, $value:expr) => {
        (stringify!($name), Arc::new(<$array>::from_iter_values($rows.iter().map($value))) as ArrayRef, false)
    };
}

/// A column whose values may be null.
macro_rules! maybe {
    ($rows:ident, $name:ident, $array:ty) => {
        maybe!($rows, $name, $array, |row| row.$name)
    };
    ($rows:ident, $name:ident, $array:ty, $value:expr) => {
        (stringify!($name), Arc::new(<$array>::from_iter($rows.iter().map($value))) as ArrayRef, true)
    };
}

/// A column of truth values that are never null.
macro_rules! flag {
    ($rows:ident, $name:ident) => {{
        let values: BooleanArray = $rows.iter().map(|row| Some(row.$name)).collect();
        (stringify!($name), Arc::new(values) as ArrayRef, false)
    }};
}

impl Row for Exchange {
    const TABLE: &'static str = "exchanges";

    fn batch(rows: &[Self]) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_from_iter_with_nullable([
            always!(rows, index, UInt32Array),
            always!(rows, client, UInt32Array),
            always!(rows, intended_start_ns, UInt64Array),
            always!(rows, start_ns, UInt64Array),
            maybe!(rows, name_lookup_ns, UInt64Array),
            maybe!(rows, tcp_connect_ns, UInt64Array),
            maybe!(rows, handshake_ns, UInt64Array),
            maybe!(rows, request_start_ns, UInt64Array),
            maybe!(rows, first_body_sent_ns, UInt64Array),
            maybe!(rows, first_response_byte_ns, UInt64Array),
            maybe!(rows, first_final_byte_ns, UInt64Array),
            always!(rows, end_ns, UInt64Array),
            always!(rows, outcome, StringArray, |row| word(row.outcome)),
            maybe!(rows, error, StringArray, |row| row.error.as_deref()),
            maybe!(rows, status, UInt16Array),
            always!(rows, body_sent_bytes, UInt64Array),
            always!(rows, body_received_bytes, UInt64Array),
            maybe!(rows, local_port, UInt16Array),
            flag!(rows, connection_reused),
            maybe!(rows, resumed, BooleanArray),
            maybe!(rows, early_data, BooleanArray),
            maybe!(rows, client_retransmissions, UInt32Array),
            maybe!(rows, smoothed_rtt_ns, UInt64Array),
            maybe!(rows, curl_starttransfer_ns, UInt64Array),
            maybe!(rows, copies, UInt32Array),
            maybe!(rows, connections, UInt32Array),
            maybe!(rows, pushed_bytes, UInt64Array),
            maybe!(rows, wasted_pushed_bytes, UInt64Array),
        ])
    }
}

impl Row for ResourceTiming {
    const TABLE: &'static str = "resources";

    fn batch(rows: &[Self]) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_from_iter_with_nullable([
            always!(rows, exchange, UInt32Array),
            always!(rows, client, UInt32Array),
            maybe!(rows, resource, UInt32Array),
            always!(rows, path, StringArray, |row| row.path.as_str()),
            always!(rows, found_by, StringArray, |row| word(row.found_by)),
            always!(rows, discovered_ns, UInt64Array),
            maybe!(rows, connection, UInt32Array),
            flag!(rows, connection_reused),
            maybe!(rows, connect_start_ns, UInt64Array),
            maybe!(rows, tcp_connect_ns, UInt64Array),
            maybe!(rows, handshake_ns, UInt64Array),
            maybe!(rows, request_start_ns, UInt64Array),
            maybe!(rows, first_response_byte_ns, UInt64Array),
            always!(rows, end_ns, UInt64Array),
            always!(rows, outcome, StringArray, |row| word(row.outcome)),
            maybe!(rows, error, StringArray, |row| row.error.as_deref()),
            maybe!(rows, status, UInt16Array),
            always!(rows, body_received_bytes, UInt64Array),
            flag!(rows, pushed),
            maybe!(rows, urgency, UInt8Array),
            maybe!(rows, incremental, BooleanArray),
        ])
    }
}

/// A word of the schema.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => unreachable!("an enumeration of words"),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use arrow_ipc::reader::FileReader;

    use super::*;

    fn read<R: Row>(folder: &Path) -> Vec<RecordBatch> {
        let file = File::open(folder.join(format!("{}.arrow", R::TABLE))).expect("the file is there");
        FileReader::try_new(file, None).expect("an Arrow file").collect::<Result<_, _>>().expect("readable batches")
    }

    fn has_the_fields_in_their_order<R: Row>() {
        let json = serde_json::to_string(&R::default()).expect("JSON");
        // The text keeps the declared order, which a parsed object would not.
        let names: Vec<&str> = json.split(['{', ',']).filter_map(|field| field.split('"').nth(1)).collect();
        let schema = R::batch(&[R::default()]).expect("a batch").schema();
        assert_eq!(schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), names);
    }

    #[test]
    fn columns_are_the_fields_of_the_row_in_their_order() {
        has_the_fields_in_their_order::<Exchange>();
        has_the_fields_in_their_order::<ResourceTiming>();
    }

    #[test]
    fn a_table_without_rows_is_an_empty_file() {
        let folder = tempfile::tempdir().expect("a folder");
        Table::<ResourceTiming>::new(folder.path()).finish().expect("written");
        assert_eq!(read::<ResourceTiming>(folder.path()).iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    }

    #[test]
    fn every_row_is_read_back_and_a_missing_phase_is_null() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut table = Table::new(folder.path());
        for index in 0..600 {
            let handshake_ns = (index % 2 == 0).then_some(u64::from(index));
            table.add(Exchange { index, handshake_ns, ..Exchange::default() }).expect("added");
        }
        table.finish().expect("written");
        let batches = read::<Exchange>(folder.path());
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 600);
        let handshake = batches[0].column_by_name("handshake_ns").expect("the column");
        assert!(handshake.is_null(1));
        assert_eq!(handshake.as_primitive::<UInt64Type>().value(2), 2);
        assert_eq!(batches[0].column_by_name("outcome").expect("the column").as_string::<i32>().value(0), "failed");
        assert!(!folder.path().join("exchanges.arrow.partial").exists());
    }
}
