//! One exchange under way, and its row. It neither decides when an exchange starts nor sends anything.

use std::fmt;
use std::sync::Arc;

use wirelab_schema::{Exchange, Outcome};

use crate::Clock;

/// One exchange under way: its row so far, and what is to be read from the transport when it ends, however it ends.
pub struct Attempt {
    /// The row. Stacks stamp phases into it as they happen; the driver owns start, end and outcome.
    pub exchange: Exchange,
    clock: Arc<dyn Clock>,
    at_end: Vec<AtEnd>,
}

type AtEnd = Box<dyn FnOnce(&mut Exchange) + Send>;

impl Attempt {
    /// Starts now. `intended_start_ns` absent means that it was meant to.
    pub fn start(clock: Arc<dyn Clock>, index: u32, intended_start_ns: Option<u64>) -> Self {
        let start_ns = if clock.measures() { clock.now_ns() } else { 0 };
        let intended_start_ns = intended_start_ns.unwrap_or(start_ns);
        let exchange = Exchange { index, intended_start_ns, start_ns, ..Exchange::default() };
        Attempt { exchange, clock, at_end: Vec::new() }
    }

    /// False if nobody wants its row.
    pub fn measures(&self) -> bool {
        self.clock.measures()
    }

    /// The clock's reading, for a phase.
    pub fn now(&self) -> Option<u64> {
        self.measures().then(|| self.clock.now_ns())
    }

    /// The clock, for a phase that is seen elsewhere.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// Has `read` fill in the row when the exchange ends, even if it is given up while the stack's own future is dropped.
    pub fn at_end(&mut self, read: impl FnOnce(&mut Exchange) + Send + 'static) {
        if self.measures() {
            self.at_end.push(Box::new(read));
        }
    }

    /// Stamps the end, once.
    pub fn stamp_end(&mut self) {
        if self.exchange.end_ns == 0 && self.measures() {
            self.exchange.end_ns = self.clock.now_ns();
        }
    }

    /// The finished row.
    pub fn finish(mut self, ended: Result<(), ExchangeError>) -> Exchange {
        self.stamp_end();
        for read in self.at_end {
            read(&mut self.exchange);
        }
        (self.exchange.outcome, self.exchange.error) = match ended {
            Ok(()) => (Outcome::Completed, None),
            Err(ExchangeError::Failed(words)) => (Outcome::Failed, Some(words)),
            Err(ExchangeError::TimedOut) => (Outcome::TimedOut, None),
            Err(ExchangeError::GaveUp(words)) => (Outcome::TimedOut, Some(words)),
            Err(ExchangeError::Unsupported(words)) => (Outcome::Unsupported, Some(words)),
        };
        self.exchange
    }
}

/// Why an exchange did not complete. Takes any error, with its causes.
#[derive(Debug)]
pub enum ExchangeError {
    /// It failed, for this reason, in one line.
    Failed(String),
    /// It was given up for lack of time.
    TimedOut,
    /// The protocol gave it up for lack of an answer, before the workload's time-out, for this reason.
    GaveUp(String),
    /// The endpoint does not do this, for this reason.
    Unsupported(String),
}

impl ExchangeError {
    /// A failure in words.
    pub fn new(words: impl Into<String>) -> Self {
        ExchangeError::Failed(words.into())
    }
}

impl<E: std::error::Error> From<E> for ExchangeError {
    fn from(error: E) -> Self {
        let mut words = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_words = cause.to_string();
            if !words.contains(&cause_words) {
                words = format!("{words}: {cause_words}");
            }
            source = cause.source();
        }
        ExchangeError::Failed(words.replace('\n', " "))
    }
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ExchangeError::Failed(words) | ExchangeError::GaveUp(words) | ExchangeError::Unsupported(words) => {
                formatter.write_str(words)
            }
            ExchangeError::TimedOut => formatter.write_str("timed out"),
        }
    }
}
