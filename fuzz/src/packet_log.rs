//! A packet log that was damaged: its packets, flows and the packets of a radio are listed and it is replayed, or it is refused.

use wirelab_capture::dissect::{radio, rows};
use wirelab_capture::log_file;
use wirelab_capture::replay::replay;

use crate::frames;

/// The bytes are the log.
pub fn check(bytes: &[u8]) {
    let Ok(log) = log_file::parse(bytes) else { return };
    let packets = rows::packets(&log).count();
    let flows = rows::flows("log", &log);
    assert!(flows.len() <= packets);
    if let Ok(seen) = radio::packets("log", &log, "client") {
        assert!(seen.len() <= packets && seen.is_sorted_by_key(|packet| packet.at_ns));
    }
    if let Ok(report) = replay("log".to_owned(), &log) {
        assert_eq!(report.packets, packets as u64);
        assert_eq!(report.mismatches > 0, report.first_mismatch.is_some());
    }
}

/// Logs of the frames that frames begin with.
pub fn seeds() -> Vec<Vec<u8>> {
    frames::seeds().iter().filter_map(|trial| frames::log(trial)).collect()
}
