//! Reads what a client recorded of its exchanges: `exchanges.arrow`, or `exchanges.jsonl` of a third-party program. It judges nothing.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use serde::{Deserialize, Deserializer};

use crate::StackError;

/// What the link can be asked about one exchange: columns of its row, with their names. Other columns are left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Recorded {
    /// Position among those of its client.
    pub index: u32,
    /// Which client or subscriber.
    #[serde(default, deserialize_with = "or_default")]
    pub client: u32,
    /// When it started.
    #[serde(default, deserialize_with = "or_default")]
    pub start_ns: u64,
    /// When it ended.
    #[serde(default, deserialize_with = "or_default")]
    pub end_ns: u64,
    /// How, by the client's word.
    pub outcome: String,
    /// Application body bytes received.
    #[serde(default, deserialize_with = "or_default")]
    pub body_received_bytes: u64,
    /// The client's local port.
    #[serde(default)]
    pub local_port: Option<u16>,
    /// When the program that performed it alone had ended.
    #[serde(default)]
    pub program_end_ns: Option<u64>,
}

/// A column that is null is as one that is left out.
fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
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
        let outcomes = texts(&batch, "outcome")?;
        let [indices, clients, starts, ends, received, ports, program_ends] =
            ["index", "client", "start_ns", "end_ns", "body_received_bytes", "local_port", "program_end_ns"]
                .map(|name| numbers(&batch, name));
        let (indices, clients, starts, ends) = (indices?, clients?, starts?, ends?);
        let (received, ports, program_ends) = (received?, ports?, program_ends?);
        for (row, outcome) in outcomes.into_iter().enumerate() {
            rows.push(Recorded {
                index: indices[row].unwrap_or_default().try_into()?,
                client: clients[row].unwrap_or_default().try_into()?,
                start_ns: starts[row].unwrap_or_default(),
                end_ns: ends[row].unwrap_or_default(),
                outcome: outcome.unwrap_or_default(),
                body_received_bytes: received[row].unwrap_or_default(),
                local_port: ports[row].map(u16::try_from).transpose()?,
                program_end_ns: program_ends[row],
            });
        }
    }
    Ok(rows)
}

/// A column of whole numbers of any type, none of them below 0; all are null in one that was left out.
fn numbers(batch: &RecordBatch, name: &str) -> Result<Vec<Option<u64>>, String> {
    let Some(array) = batch.column_by_name(name) else { return Ok(vec![None; batch.num_rows()]) };
    let found = whole::<UInt64Type>(array)
        .or_else(|| whole::<Int64Type>(array))
        .or_else(|| whole::<UInt32Type>(array))
        .or_else(|| whole::<Int32Type>(array))
        .or_else(|| whole::<UInt16Type>(array))
        .or_else(|| whole::<Int16Type>(array))
        .or_else(|| whole::<UInt8Type>(array))
        .or_else(|| whole::<Int8Type>(array))
        .or_else(|| (array.logical_null_count() == array.len()).then(|| Ok(vec![None; array.len()])));
    found.unwrap_or_else(|| Err(format!("it is {}", array.data_type()))).map_err(|why| format!("`{name}`: {why}"))
}

/// The values of an array of this type; none of another type.
fn whole<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<Result<Vec<Option<u64>>, String>>
where
    T::Native: TryInto<u64> + Copy,
{
    let unsigned = |value: T::Native| value.try_into().map_err(|_| "a value is below 0".to_owned());
    array.as_primitive_opt::<T>().map(|array| array.iter().map(|value| value.map(unsigned).transpose()).collect())
}

/// A column of texts of any type.
fn texts(batch: &RecordBatch, name: &str) -> Result<Vec<Option<String>>, String> {
    let array = batch.column_by_name(name).ok_or_else(|| format!("it has no column `{name}`"))?;
    let owned = |text: Option<&str>| text.map(str::to_owned);
    if let Some(array) = array.as_string_opt::<i32>() {
        return Ok(array.iter().map(owned).collect());
    }
    if let Some(array) = array.as_string_opt::<i64>() {
        return Ok(array.iter().map(owned).collect());
    }
    let array = array.as_string_view_opt().ok_or_else(|| format!("`{name}` is not text"))?;
    Ok(array.iter().map(owned).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, Int64Array, LargeStringArray, NullArray, StringViewArray};
    use arrow_ipc::writer::FileWriter;
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
    fn a_table_may_have_other_types_of_numbers_and_texts_and_lack_columns() {
        let folder = tempfile::tempdir().expect("a folder");
        let texts = [
            Arc::new(LargeStringArray::from(vec!["completed"])) as ArrayRef,
            Arc::new(StringViewArray::from(vec!["completed"])),
        ];
        for outcome in texts {
            let columns = [
                ("index", Arc::new(Int64Array::from(vec![3])) as ArrayRef),
                ("start_ns", Arc::new(Int64Array::from(vec![5]))),
                ("end_ns", Arc::new(NullArray::new(1))),
                ("outcome", outcome),
                ("local_port", Arc::new(Int32Array::from(vec![40_000]))),
            ];
            let batch = RecordBatch::try_from_iter(columns).expect("a table");
            let file = File::create(folder.path().join("exchanges.arrow")).expect("a file");
            let mut writer = FileWriter::try_new(file, &batch.schema()).expect("a writer");
            writer.write(&batch).and_then(|()| writer.finish()).expect("written");
            let [row] = &read(folder.path()).expect("a table")[..] else { panic!("not one row") };
            assert_eq!((row.index, row.client, row.start_ns, row.end_ns), (3, 0, 5, 0));
            assert_eq!((&*row.outcome, row.local_port), ("completed", Some(40_000)));
        }
    }

    #[test]
    fn a_number_below_0_or_too_large_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, value) in [("end_ns", -1), ("local_port", 70_000)] {
            let outcome = Arc::new(LargeStringArray::from(vec!["completed"])) as ArrayRef;
            let number = Arc::new(Int64Array::from(vec![value]));
            let batch = RecordBatch::try_from_iter([("outcome", outcome), (name, number)]).expect("a table");
            let file = File::create(folder.path().join("exchanges.arrow")).expect("a file");
            let mut writer = FileWriter::try_new(file, &batch.schema()).expect("a writer");
            writer.write(&batch).and_then(|()| writer.finish()).expect("written");
            read(folder.path()).expect_err("no such number");
        }
    }

    #[test]
    fn a_null_in_a_line_is_as_a_column_that_was_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let line = r#"{"index":0,"outcome":"timed-out","client":null,"start_ns":null,"end_ns":null,"body_received_bytes":null}"#;
        fs::write(folder.path().join("exchanges.jsonl"), line).expect("written");
        let [row] = &read(folder.path()).expect("lines")[..] else { panic!("not one row") };
        assert_eq!((row.client, row.start_ns, row.end_ns, row.body_received_bytes), (0, 0, 0, 0));
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
