//! Rows as Arrow tables. It reads none.

use std::fs::{self, File};
use std::io::BufWriter;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use serde::Serialize;
use wirelab_schema::{Exchange, Extension, ResourceTiming};

use crate::StackError;

const BATCH: usize = 256;

/// A row of a table that a client leaves.
pub trait Row: Default + Serialize {
    /// The table's name.
    const TABLE: &'static str;
    /// What says which columns a table has, if not all tables of such rows have the same.
    type Kind;

    /// Its columns, with the fields' names and in their order.
    fn batch(rows: &[Self], kind: &Self::Kind) -> Result<RecordBatch, ArrowError>;
}

/// Writes one table as an Arrow IPC file into a folder.
///
/// Batches of 256 go to a file `.partial` as they fill, which is renamed by [`finish`](Table::finish): a file of the final name is complete.
/// Batches are not smaller because writing one holds up the exchanges under way. Nothing is created before the first batch or the finish.
pub struct Table<R: Row> {
    folder: PathBuf,
    kind: R::Kind,
    pending: Vec<R>,
    writer: Option<FileWriter<BufWriter<File>>>,
}

impl<R: Row> Table<R> {
    /// In `folder`, which must exist.
    pub fn new(folder: &Path, kind: R::Kind) -> Self {
        Table { folder: folder.to_owned(), kind, pending: Vec::new(), writer: None }
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
        let batch = R::batch(&self.pending, &self.kind)
            .map_err(|error| StackError::failed(format!("{} as Arrow", R::TABLE), error))?;
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
    /// The extension of the table's workload.
    type Kind = Extension;

    /// An extension of another workload than the table's is an error: nothing of a row is dropped without a word.
    fn batch(rows: &[Self], kind: &Extension) -> Result<RecordBatch, ArrowError> {
        let of_workload = discriminant(kind);
        if rows.iter().any(|row| discriminant(&row.extension) != of_workload) {
            return Err(ArrowError::InvalidArgumentError("a row with columns of another workload".to_owned()));
        }
        let core = [
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
        ];
        let extension = match kind {
            Extension::Request(_) => vec![
                maybe!(rows, curl_starttransfer_ns, UInt64Array, |row| {
                    row.request().and_then(|columns| columns.curl_starttransfer_ns)
                }),
                maybe!(rows, program_end_ns, UInt64Array, |row| {
                    row.request().and_then(|columns| columns.program_end_ns)
                }),
                maybe!(rows, place_ns, UInt64Array, |row| row.request().and_then(|columns| columns.place_ns)),
                maybe!(rows, attempts, UInt32Array, |row| row.request().and_then(|columns| columns.attempts)),
            ],
            Extension::Message(_) => {
                vec![maybe!(rows, copies, UInt32Array, |row| row.message().and_then(|columns| columns.copies))]
            }
            Extension::Page(_) => vec![
                maybe!(rows, connections, UInt32Array, |row| row.page().and_then(|columns| columns.connections)),
                maybe!(rows, pushed_bytes, UInt64Array, |row| row.page().and_then(|columns| columns.pushed_bytes)),
                maybe!(rows, wasted_pushed_bytes, UInt64Array, |row| {
                    row.page().and_then(|columns| columns.wasted_pushed_bytes)
                }),
            ],
        };
        RecordBatch::try_from_iter_with_nullable(core.into_iter().chain(extension))
    }
}

impl Row for ResourceTiming {
    const TABLE: &'static str = "resources";
    type Kind = ();

    fn batch(rows: &[Self], (): &()) -> Result<RecordBatch, ArrowError> {
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
    use arrow_array::types::{UInt32Type, UInt64Type};
    use arrow_ipc::reader::FileReader;
    use wirelab_schema::{MessageExtension, PageExtension, RequestExtension};

    use super::*;

    fn read<R: Row>(folder: &Path) -> Vec<RecordBatch> {
        let file = File::open(folder.join(format!("{}.arrow", R::TABLE))).expect("the file is there");
        FileReader::try_new(file, None).expect("an Arrow file").collect::<Result<_, _>>().expect("readable batches")
    }

    fn columns<R: Row>(kind: &R::Kind) -> Vec<String> {
        let schema = R::batch(&[], kind).expect("a batch").schema();
        schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// In the declared order, which the text keeps and a parsed object would not.
    fn fields(value: impl Serialize) -> Vec<String> {
        let json = serde_json::to_string(&value).expect("JSON");
        json.split(['{', ',']).filter_map(|field| field.split('"').nth(1)).map(str::to_owned).collect()
    }

    #[test]
    fn columns_are_the_fields_of_the_row_in_their_order() {
        assert_eq!(columns::<ResourceTiming>(&()), fields(ResourceTiming::default()));
        let core = fields(Exchange::default());
        for (kind, extension) in [
            (Extension::default(), fields(RequestExtension::default())),
            (Extension::Message(MessageExtension::default()), fields(MessageExtension::default())),
            (Extension::Page(PageExtension::default()), fields(PageExtension::default())),
        ] {
            assert_eq!(columns::<Exchange>(&kind), [core.clone(), extension].concat());
        }
    }

    #[test]
    fn a_row_of_another_workload_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut table = Table::new(folder.path(), Extension::default());
        let extension = Extension::Message(MessageExtension { copies: Some(1) });
        table.add(Exchange { extension, ..Exchange::default() }).expect("kept until the batch is full");
        let error = table.finish().expect_err("refused").to_string();
        assert!(error.contains("columns of another workload"), "{error}");
    }

    #[test]
    fn columns_of_the_extension_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let extension = PageExtension { connections: Some(3), pushed_bytes: None, wasted_pushed_bytes: Some(5) };
        let mut table = Table::new(folder.path(), Extension::Page(PageExtension::default()));
        table.add(Exchange { extension: Extension::Page(extension), ..Exchange::default() }).expect("added");
        table.finish().expect("written");
        let [batch] = read::<Exchange>(folder.path()).try_into().expect("one batch");
        let column = |name| batch.column_by_name(name).expect("the column");
        assert_eq!(column("connections").as_primitive::<UInt32Type>().value(0), 3);
        assert!(column("pushed_bytes").is_null(0));
        assert_eq!(column("wasted_pushed_bytes").as_primitive::<UInt64Type>().value(0), 5);
    }

    #[test]
    fn a_table_without_rows_is_an_empty_file() {
        let folder = tempfile::tempdir().expect("a folder");
        Table::<ResourceTiming>::new(folder.path(), ()).finish().expect("written");
        assert_eq!(read::<ResourceTiming>(folder.path()).iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    }

    #[test]
    fn every_row_is_read_back_and_a_missing_phase_is_null() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut table = Table::new(folder.path(), Extension::default());
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
