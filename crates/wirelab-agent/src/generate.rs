//! `generate`: the JSON Schemas of what crosses the border, and what `describe` prints.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::{Schema, schema_for};
use serde::Serialize;
use wirelab_schema::{
    CapturedPacket, Description, DissectedPacket, EndpointEvent, EndpointParameters, Exchange, Flow, HostReply,
    HostRequest, Ledger, LinkAnswer, LinkSpec, MessageExtension, PacketLogHeader, PageExtension, PageManifest,
    ProbePlan, RadioPacket, ReplayReport, RequestExtension, ResourceTiming, SettingsSeen, TrafficReport, WorkloadSpec,
};

use crate::describe::description;

#[derive(clap::Args)]
pub struct Arguments {
    /// Folder for the schemas and `protocols.json`; files of the same names are replaced.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

pub fn run(arguments: Arguments) -> ExitCode {
    match generate(&arguments.out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}: {error}", arguments.out.display());
            ExitCode::FAILURE
        }
    }
}

fn generate(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in files() {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Name and content of each file. The same build always gives the same bytes.
fn files() -> Vec<(&'static str, String)> {
    vec![
        ("captured-packet.json", schema(schema_for!(CapturedPacket))),
        ("description.json", schema(schema_for!(Description))),
        ("dissected-packet.json", schema(schema_for!(DissectedPacket))),
        ("endpoint-event.json", schema(schema_for!(EndpointEvent))),
        ("endpoint-parameters.json", schema(schema_for!(EndpointParameters))),
        ("exchange.json", schema(schema_for!(Exchange))),
        ("exchange-message.json", schema(schema_for!(MessageExtension))),
        ("exchange-page.json", schema(schema_for!(PageExtension))),
        ("exchange-request.json", schema(schema_for!(RequestExtension))),
        ("flow.json", schema(schema_for!(Flow))),
        ("host-reply.json", schema(schema_for!(HostReply))),
        ("host-request.json", schema(schema_for!(HostRequest))),
        ("ledger.json", schema(schema_for!(Ledger))),
        ("link-facts.json", schema(schema_for!(LinkAnswer))),
        ("link-spec.json", schema(schema_for!(LinkSpec))),
        ("packet-log-header.json", schema(schema_for!(PacketLogHeader))),
        ("page-manifest.json", schema(schema_for!(PageManifest))),
        ("probe-plan.json", schema(schema_for!(ProbePlan))),
        ("radio-packet.json", schema(schema_for!(RadioPacket))),
        ("replay-report.json", schema(schema_for!(ReplayReport))),
        ("resource-timing.json", schema(schema_for!(ResourceTiming))),
        ("settings-seen.json", schema(schema_for!(SettingsSeen))),
        ("protocols.json", pretty(&description())),
        ("traffic-report.json", schema(schema_for!(TrafficReport))),
        ("workload-spec.json", schema(schema_for!(WorkloadSpec))),
    ]
}

/// Its keys sorted, whatever features of serde_json a build has.
fn schema(schema: Schema) -> String {
    let mut value = schema.to_value();
    value.sort_all_objects();
    pretty(&Schema::try_from(value).expect("it was a schema"))
}

fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checked_in_schemas_are_those_of_this_build() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
        for (name, text) in files() {
            let checked_in = fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert!(checked_in == text, "schema/{name} is out of date: run `make generate`");
        }
    }
}
