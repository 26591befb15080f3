//! The option `--pcap`: which end is captured, and into which file.

use std::path::PathBuf;
use std::str::FromStr;

use crate::taps::ENDS;

/// Which end is captured, and where to: `client=FILE` or `server=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pcap {
    /// Position in [`ENDS`].
    pub end: usize,
    pub file: PathBuf,
}

/// A text that is neither.
#[derive(Debug, thiserror::Error)]
#[error("is none of client=FILE and server=FILE")]
pub struct NoPcap;

impl FromStr for Pcap {
    type Err = NoPcap;

    fn from_str(text: &str) -> Result<Self, NoPcap> {
        let (end, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or(NoPcap)?;
        let end = ENDS.iter().position(|known| *known == end).ok_or(NoPcap)?;
        Ok(Self { end, file: file.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_equals_sign_separates_an_end_and_a_file() {
        let pcap = |text: &str| text.parse::<Pcap>().ok();
        assert_eq!(pcap("client=a=b.pcapng"), Some(Pcap { end: 0, file: "a=b.pcapng".into() }));
        assert_eq!(pcap("server=/tmp/s"), Some(Pcap { end: 1, file: "/tmp/s".into() }));
        assert_eq!(["client", "client=", "=x", "both=x"].map(pcap), [const { None }; 4]);
    }
}
