//! Numbers in people's words. Exact: a link is described in whole nanoseconds.

/// A time, nanoseconds.
pub(crate) fn time(nanoseconds: u64) -> String {
    const MINUTE: u64 = 60_000_000_000;
    if nanoseconds == 0 {
        return "0 s".to_owned();
    }
    if nanoseconds >= MINUTE && nanoseconds.is_multiple_of(MINUTE) {
        return format!("{} min", nanoseconds / MINUTE);
    }
    scaled(nanoseconds, &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)], "ns")
}

/// A number of bytes.
pub(crate) fn size(bytes: u64) -> String {
    scaled(bytes, &[("MB", 1_000_000), ("kB", 1000)], "B")
}

/// A rate, bit/s.
pub(crate) fn rate(bits_per_second: u64) -> String {
    scaled(bits_per_second, &[("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1000)], "bit/s")
}

/// A fraction, in percent.
pub(crate) fn share(fraction: f64) -> String {
    format!("{} %", significant(100.0 * fraction, 6))
}

/// What is said of a correlation of successive draws, if there is one.
pub(crate) fn correlated(correlation: f64) -> String {
    if correlation == 0.0 { String::new() } else { format!(", {} correlated", share(correlation)) }
}

fn scaled(number: u64, units: &[(&str, u64)], base: &str) -> String {
    match units.iter().find(|(_, scale)| number >= *scale) {
        Some((unit, scale)) => format!("{} {unit}", significant(number as f64 / *scale as f64, 15)),
        None => format!("{number} {base}"),
    }
}

/// As C's `%.*g`: so many significant digits, without zeros at the end, with an exponent if that is shorter.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    let scientific = format!("{:.*e}", digits - 1, value);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().expect("Rust wrote it");
    if (-4..digits as i32).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent) as usize;
        return trimmed(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_c_writes_them() {
        let six = [0.0, 1.0, 0.1 + 0.2, 100.0 / 3.0, 1e-5, 123_456.7, 1_234_567.0, 0.000_123_456_78, 99.999_999_9];
        let written = ["0", "1", "0.3", "33.3333", "1e-05", "123457", "1.23457e+06", "0.000123457", "100"];
        assert_eq!(six.map(|value| significant(value, 6)), written);
        assert_eq!(significant(2.0 / 3.0, 3), "0.667");
    }

    #[test]
    fn quantities_have_the_largest_unit_that_is_not_above_them() {
        assert_eq!(
            [0, 999, 1500, 20_000_000, 60_000_000_000, 90_000_000_000].map(time),
            ["0 s", "999 ns", "1.5 us", "20 ms", "1 min", "90 s"]
        );
        assert_eq!([0, 999, 64_000, 1_500_000].map(size), ["0 B", "999 B", "64 kB", "1.5 MB"]);
        assert_eq!([8, 250_000, 2_666_667].map(rate), ["8 bit/s", "250 kbit/s", "2.666667 Mbit/s"]);
        assert_eq!([0.0, 0.065, 1.0 / 3.0].map(share), ["0 %", "6.5 %", "33.3333 %"]);
    }
}
