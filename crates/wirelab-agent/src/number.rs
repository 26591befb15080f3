//! A parser of numeric arguments within a range.

use std::ops::RangeInclusive;

/// A parser of an argument that is a number of this range.
pub fn number_in(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
        let (minimum, maximum) = (range.start(), range.end());
        if range.contains(&value) { Ok(value) } else { Err(format!("{value} is not from {minimum} to {maximum}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_its_range_is_refused_with_the_range() {
        let parse = number_in(0.1..=10_000_000.0);
        assert_eq!(["0.1", "1e7"].map(&parse), [Ok(0.1), Ok(1e7)]);
        let refused = |text| parse(text).unwrap_err();
        assert_eq!(refused("0.05"), "0.05 is not from 0.1 to 10000000");
        assert_eq!(refused("10000001"), "10000001 is not from 0.1 to 10000000");
        assert_eq!(refused("NaN"), "NaN is not from 0.1 to 10000000");
        assert_eq!(refused("soon"), "`soon` is not a number");
    }
}
