//! Lines that drive the host and the link process, and parameter files of endpoints and probes: each is read or refused, and what is read says
//! the same when it is written.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wirelab_agent::inputs;
use wirelab_schema::{EndpointParameters, HostRequest, LinkSpec, PacketLogHeader, ProbePlan};

use crate::mutate;

/// The bytes are the line.
pub fn check(bytes: &[u8]) {
    let _ = inputs::is_order(bytes);
    round_trip::<HostRequest>(bytes);
    round_trip::<EndpointParameters>(bytes);
    round_trip::<ProbePlan>(bytes);
    round_trip::<PacketLogHeader>(bytes);
    round_trip::<LinkSpec>(bytes);
}

/// One of each.
pub fn seeds() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"id":1,"op":"open","lanes":2,"mtu":1500,"offloads":true}"#,
        r#"{"id":3,"op":"cancel","trial":"t"}"#,
        r#"{"op":"finish","at":{"slot":0,"link":0}}"#,
        r#"{"schema_version":1,"protocol":"h2","role":"client","server":{"address":"10.77.0.2","port":443,"name":"server.test"},"settings":{"a":1,"b":"x"},"workload":{"kind":"request-response","upload_bytes":1,"download_bytes":100,"exchanges":10,"clients":1,"arrival":{"process":"closed"},"concurrency":1,"timeout_ns":1000000000,"connection":{"policy":"persistent","connections":1}},"certificates":null,"output":"/tmp/o","seed":4}"#,
        r#"{"start_ns":1,"duration_ns":1000,"family":"ipv6","server_port":7,"flows":[{"uplink":true,"client_port":5000,"begin_ns":0,"bursts":3,"every_ns":1000,"spread_ns":10,"packets":2,"payload_bytes":16}]}"#,
    ];
    let mut seeds: Vec<String> = lines.map(str::to_owned).into();
    let digits = r#"{"uplink":[{"kind":"loss","probability":0.23165114052975866}],"downlink":[]}"#;
    seeds.push(digits.to_owned());
    for link in mutate::links() {
        seeds.push(format!(r#"{{"schema_version":1,"link":{link},"seed":5,"ports":["client","server"]}}"#));
        seeds.push(format!(r#"{{"op":"begin","at":{{"slot":0,"link":0}},"link":{link},"seed":5,"packet_log":"/tmp/log","header_bytes":96,"captures":{{}}}}"#));
        seeds.push(format!(
            r#"{{"id":2,"op":"run-trial","trial":"t","lane":0,"link":{link},"link_seed":9,"packet_log":null,"header_bytes":40,"congestion_control":"cubic","endpoints":[{{"name":"server","host":"server","command":["x"],"directory":"/tmp","stdout":"/tmp/a","stderr":"/tmp/b","ready":{{"by":"tcp-connect","port":80,"timeout_ns":5}},"ends_trial":false}}],"timeout_ns":1000}}"#
        ));
        seeds.push(link.to_string());
    }
    seeds.into_iter().map(String::into_bytes).collect()
}

/// Whether the bytes are one of the lines and files that [`check`] reads.
pub fn is_read(bytes: &[u8]) -> bool {
    inputs::is_order(bytes).is_ok()
        || is_a::<HostRequest>(bytes)
        || is_a::<EndpointParameters>(bytes)
        || is_a::<ProbePlan>(bytes)
        || is_a::<PacketLogHeader>(bytes)
        || is_a::<LinkSpec>(bytes)
}

fn is_a<T: DeserializeOwned>(bytes: &[u8]) -> bool {
    serde_json::from_slice::<T>(bytes).is_ok()
}

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(bytes) else { return };
    let written = serde_json::to_vec(&read).expect("what was read can be written");
    assert_eq!(serde_json::from_slice::<T>(&written).expect("what was written can be read"), read);
}
