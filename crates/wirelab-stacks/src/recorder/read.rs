//! Reads what a client recorded of its exchanges: `exchanges.arrow`, or `exchanges.jsonl` of a third-party program. It judges nothing.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use serde::Deserialize;

use crate::StackError;

/// What the link can be asked about one exchange: columns of its row, with their names. Other columns are left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Recorded {
    /// Position among those of its client.
    pub index: u32,
    /// Which client or subscriber.
    #[serde(default)]
    pub client: u32,
    /// When it started.
    #[serde(default)]
    pub start_ns: u64,
    /// When it ended.
    #[serde(default)]
    pub end_ns: u64,
    /// How, by the client's word.
    pub outcome: String,
    /// Application body bytes received.
    #[serde(default)]
    pub body_received_bytes: u64,
    /// The client's local port.
    #[serde(default)]
    pub local_port: Option<u16>,
    /// When the program that performed it alone had ended.
    #[serde(default)]
    pub program_end_ns: Option<u64>,
}

/// The rows in a client's output folder, in their order; none if it recorded nothing.
pub fn read(folder: &Path) -> Result<Vec<Recorded>, StackError> {
    let [arrow, lines] = ["exchanges.arrow", "exchanges.jsonl"].map(|name| folder.join(name));
    let failed = |path: &Path, error: &dyn std::fmt::Display| StackError::failed(path.display(), error);
    if arrow.exists() {
        return read_arrow(&arrow).map_err(|error| failed(&arrow, &error));
    }
    if !lines.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&lines).map_err(|error| failed(&lines, &error))?;
    let rows = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let row = |(line, number): (&str, u32)| {
        serde_json::from_str(line).map_err(|error| failed(&lines, &format!("line {number}: {error}")))
    };
    rows.map(row).collect()
}

fn read_arrow(path: &Path) -> Result<Vec<Recorded>, Box<dyn std::error::Error>> {
    let mut rows = Vec::new();
    for batch in FileReader::try_new(BufReader::new(File::open(path)?), None)? {
        let batch = batch?;
        let outcomes = column(&batch, "outcome")?.as_string_opt::<i32>().ok_or("`outcome` is not text")?;
        let numbers = |name| numbers::<UInt64Type>(&batch, name);
        let ([starts, ends, received], program_ends) = (
            [numbers("start_ns")?, numbers("end_ns")?, numbers("body_received_bytes")?],
            numbers("program_end_ns").unwrap_or_default(),
        );
        let [indices, clients] = [numbers_of_32(&batch, "index")?, numbers_of_32(&batch, "client")?];
        let ports = self::numbers::<UInt16Type>(&batch, "local_port")?;
        rows.extend((0..batch.num_rows()).map(|row| Recorded {
            index: indices[row].unwrap_or_default(),
            client: clients[row].unwrap_or_default(),
            start_ns: starts[row].unwrap_or_default(),
            end_ns: ends[row].unwrap_or_default(),
            outcome: if outcomes.is_null(row) { String::new() } else { outcomes.value(row).to_owned() },
            body_received_bytes: received[row].unwrap_or_default(),
            local_port: ports[row],
            program_end_ns: program_ends.get(row).copied().flatten(),
        }));
    }
    Ok(rows)
}

fn numbers_of_32(batch: &RecordBatch, name: &str) -> Result<Vec<Option<u32>>, String> {
    numbers::<UInt32Type>(batch, name)
}

fn numbers<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str) -> Result<Vec<Option<T::Native>>, String> {
    let array = column(batch, name)?.as_primitive_opt::<T>();
    array.map(|array| array.iter().collect()).ok_or_else(|| format!("`{name}` has another type"))
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array, String> {
    batch.column_by_name(name).map(AsRef::as_ref).ok_or_else(|| format!("it has no column `{name}`"))
}

#[cfg(test)]
mod tests {
    use wirelab_schema::{Exchange, Extension, Outcome, RequestExtension};

    use super::*;
    use crate::recorder::table::Table;

    #[test]
    fn rows_of_either_file_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(read(folder.path()).expect("nothing"), []);
        let request = RequestExtension { program_end_ns: Some(9), ..RequestExtension::default() };
        let exchange = Exchange {
            index: 3,
            client: 1,
            start_ns: 5,
            end_ns: 7,
            outcome: Outcome::Completed,
            body_received_bytes: 11,
            local_port: Some(40_000),
            extension: Extension::Request(request),
            ..Exchange::default()
        };
        let expected = Recorded {
            index: 3,
            client: 1,
            start_ns: 5,
            end_ns: 7,
            outcome: "completed".to_owned(),
            body_received_bytes: 11,
            local_port: Some(40_000),
            program_end_ns: Some(9),
        };
        let line = serde_json::to_string(&exchange).expect("JSON");
        fs::write(folder.path().join("exchanges.jsonl"), format!("{line}\n\n")).expect("written");
        let without_extension = Recorded { program_end_ns: None, ..expected.clone() };
        assert_eq!(read(folder.path()).expect("lines"), [without_extension]);
        let mut table = Table::new(folder.path(), Extension::default());
        table.add(exchange).expect("added");
        table.finish().expect("finished");
        assert_eq!(read(folder.path()).expect("a table"), [expected]);
    }

    #[test]
    fn a_line_that_is_no_row_is_an_error_with_its_number() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("exchanges.jsonl"), "{\"index\":0,\"outcome\":\"failed\"}\nhello\n")
            .expect("written");
        let error = read(folder.path()).expect_err("not a row").to_string();
        assert!(error.contains("exchanges.jsonl: line 2: "), "{error}");
    }
}
