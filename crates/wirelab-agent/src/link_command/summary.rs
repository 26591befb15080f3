//! The lines that a link prints at its end, one for each direction.

use std::fmt::Write;

use wirelab_net::link::{Direction, DropCause};
use wirelab_net::{DirectionCounts, SlotReport};

use super::observed::Account;
use super::{Addresses, OtherEnd};

/// How lines for people begin.
const PREFIX: &str = "wirelab: ";

/// What was run, and where.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    pub name: &'a str,
    pub seed: u64,
    pub addresses: Addresses,
    pub other_end: OtherEnd,
}

impl Summary<'_> {
    /// Where a shell's user is.
    pub fn greeting(&self) -> String {
        let Addresses { client, server } = self.addresses;
        let there = match self.other_end {
            OtherEnd::Server => format!("the server is {server}"),
            OtherEnd::Nobody => {
                format!("{server} answers pings, and nothing else can be reached from here, not the internet either")
            }
            OtherEnd::Outer => format!("beyond it is where this command was started, and the server {server}"),
        };
        format!("{PREFIX}a shell behind the link {}; this is {client}, {there}", self.name)
    }

    /// What the link did, a line for each direction, and the seed, by which the run can be repeated.
    pub fn text(&self, report: &SlotReport, accounts: [Account; 2]) -> String {
        let mut text = String::new();
        for (name, direction) in [("uplink", Direction::Uplink), ("downlink", Direction::Downlink)] {
            let (counts, account) = (&report.directions[direction.index()], accounts[direction.index()]);
            let _ = writeln!(text, "{PREFIX}{name:8} {}{}", packets(counts, account), delays(counts, account));
        }
        let alone = match self.other_end {
            OtherEnd::Nobody => "; reached the other end only, not the internet",
            OtherEnd::Server | OtherEnd::Outer => "",
        };
        let _ = writeln!(text, "{PREFIX}{:8} {} on {}{alone}", "seed", self.seed, self.name);
        for warning in warnings(report) {
            let _ = writeln!(text, "warning: {warning}");
        }
        text
    }
}

fn packets(counts: &DirectionCounts, account: Account) -> String {
    let number = |packets: u64| format!("{packets} packet{}", if packets == 1 { "" } else { "s" });
    let mut text = format!("{}, {}", number(counts.received), bytes(counts.received_bytes));
    let lost: u64 = counts.dropped.iter().sum();
    let causes = DropCause::ALL.into_iter().zip(counts.dropped).filter(|(_, packets)| *packets > 0);
    let causes: Vec<_> = causes.map(|(cause, packets)| format!("{packets} {}", words(cause))).collect();
    match lost {
        0 => text += ", none lost",
        _ => text += &format!(", {lost} lost ({})", causes.join(", ")),
    }
    for (packets, what) in [
        (counts.originated, "made by the link"),
        (counts.duplicated, "duplicated"),
        (account.corrupted, "corrupted"),
        (account.reordered, "out of order"),
        (counts.held, "still on the way"),
    ] {
        if packets > 0 {
            text += &format!(", {packets} {what}");
        }
    }
    text
}

/// Configured: the mean of the computed delays. Measured: of the actual ones. The difference is the emulator's timing error.
fn delays(counts: &DirectionCounts, account: Account) -> String {
    let (Some(configured), Some(late)) = (account.mean_delay, counts.lateness.quantile(0.99)) else {
        return String::new();
    };
    let measured = configured + counts.lateness.total / u32::try_from(counts.delivered.max(1)).unwrap_or(u32::MAX);
    let [configured, measured, late] = [configured, measured, late].map(|time| time.as_secs_f64() * 1e3);
    format!("; mean delay configured {configured:.3} ms, measured {measured:.3} ms, timing error p99 {late:.3} ms")
}

fn warnings(report: &SlotReport) -> Vec<String> {
    let mut warnings = Vec::new();
    if report.kernel_drops > 0 {
        warnings.push(format!("the kernel dropped {} packets that the link should have carried", report.kernel_drops));
    }
    if report.oversized > 0 {
        warnings.push(format!("{} packets were longer than the MTU and not carried", report.oversized));
    }
    if report.clock_step {
        warnings.push("the machine's clock was set during the run, so delays around that time are wrong".into());
    }
    if report.left_out_of_captures > 0 {
        let packets = report.left_out_of_captures;
        warnings.push(format!("captures lack {packets} packets because the disk was too slow; the link carried them"));
    }
    warnings
}

fn bytes(count: u64) -> String {
    match count {
        0..1000 => format!("{count} B"),
        1000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

const fn words(cause: DropCause) -> &'static str {
    match cause {
        DropCause::Loss => "at random",
        DropCause::QueueFull => "queue full",
        DropCause::Aqm => "by active queue management",
        DropCause::Outage => "in an outage",
        DropCause::Retries => "after the last retry",
        DropCause::Nat => "without a NAT mapping",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn summary(other_end: OtherEnd) -> Summary<'static> {
        let addresses = Addresses { client: [10, 77, 0, 1].into(), server: [10, 77, 0, 2].into() };
        Summary { name: "nb-iot", seed: 7, addresses, other_end }
    }

    #[test]
    fn each_direction_has_a_line_with_its_losses_by_cause_and_its_delay() {
        let mut report = SlotReport::default();
        let uplink = &mut report.directions[0];
        (uplink.received, uplink.received_bytes, uplink.delivered, uplink.held) = (5, 1500, 2, 1);
        (uplink.dropped[0], uplink.dropped[1], uplink.duplicated) = (2, 1, 1);
        for lateness in [10, 30] {
            uplink.lateness.add(Duration::from_micros(lateness));
        }
        let account = Account { mean_delay: Some(Duration::from_millis(25)), corrupted: 3, reordered: 4 };
        let text = summary(OtherEnd::Server).text(&report, [account, Account::default()]);
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                "wirelab: uplink   5 packets, 1.5 kB, 3 lost (2 at random, 1 queue full), 1 duplicated, 3 corrupted, 4 out of order, 1 still on the way; \
                 mean delay configured 25.000 ms, measured 25.020 ms, timing error p99 0.030 ms",
                "wirelab: downlink 0 packets, 0 B, none lost",
                "wirelab: seed     7 on nb-iot",
            ]
        );
    }

    #[test]
    fn the_summary_says_if_there_was_no_server_and_no_internet() {
        let text = summary(OtherEnd::Nobody).text(&SlotReport::default(), [Account::default(); 2]);
        assert!(text.ends_with("reached the other end only, not the internet\n"), "{text}");
        assert!(summary(OtherEnd::Nobody).greeting().contains("not the internet"));
    }

    #[test]
    fn each_reason_to_distrust_the_figures_is_a_warning() {
        let report = SlotReport {
            kernel_drops: 2,
            oversized: 1,
            clock_step: true,
            left_out_of_captures: 3,
            ..SlotReport::default()
        };
        let text = summary(OtherEnd::Outer).text(&report, [Account::default(); 2]);
        assert_eq!(text.lines().filter(|line| line.starts_with("warning: ")).count(), 4);
    }
}
