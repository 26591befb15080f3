//! Parameters of random descriptions, for tests: values so small that a short train of packets meets them.

use std::ops::Range;

/// Numbers that choose a random description. Zeros choose the smallest values, so that a test that shrinks its numbers shrinks the description.
pub struct Choices<'a>(&'a mut dyn FnMut() -> u64);

impl<'a> Choices<'a> {
    /// From a source of uniform numbers.
    pub fn new(next: &'a mut dyn FnMut() -> u64) -> Self {
        Self(next)
    }

    /// A number of this range.
    pub fn number(&mut self, range: Range<u64>) -> u64 {
        range.start + (self.0)() % (range.end - range.start)
    }

    /// A number of this range.
    pub fn small(&mut self, range: Range<u32>) -> u32 {
        self.number(range.start.into()..range.end.into()) as u32
    }

    /// Nanoseconds of whole microseconds of this range.
    pub fn micros(&mut self, range: Range<u64>) -> u64 {
        1000 * self.number(range)
    }

    /// True in half of the cases.
    pub fn flag(&mut self) -> bool {
        self.number(0..2) == 1
    }

    /// A value in half of the cases.
    pub fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| value(self))
    }

    /// As many values as a number of this range.
    pub fn list<T>(&mut self, range: Range<u64>, mut value: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.number(range)).map(|_| value(self)).collect()
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.0)() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A probability: 0, 1 or between them.
    pub fn fraction(&mut self) -> f64 {
        match self.number(0..4) {
            0 => 0.0,
            1 => 1.0,
            _ => self.unit(),
        }
    }

    /// A correlation, short of those that take long to become stationary.
    pub fn correlation(&mut self) -> f64 {
        match self.number(0..4) {
            0 => 0.0,
            1 => 1.0,
            _ => 0.99 * self.unit(),
        }
    }

    /// A rate at which a short train of packets takes milliseconds, bit/s.
    pub fn rate_bps(&mut self) -> u64 {
        self.number(100_000..50_000_000)
    }
}
