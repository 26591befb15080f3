//! Tests: what is kept, for how long, and when it is sent again.

use super::*;

const S: u64 = 1_000_000_000;
const H: u64 = 3_600 * S;

fn retry() -> Retry {
    Retry {
        first_ns: 2 * S,
        factor_percent: 200,
        longest_ns: 300 * S,
        jitter_percent: 0,
        keep_ns: 12 * H,
        backlog: 100,
    }
}

fn backlog(retry: Retry) -> Backlog {
    Backlog::new(retry, 1, 0)
}

fn attempts(row: &Exchange) -> Option<u32> {
    row.request().and_then(|columns| columns.attempts)
}

/// The back-offs of so many failures of one message, each attempt as early as possible.
fn back_offs(mut backlog: Backlog, failures: u32) -> Vec<u64> {
    assert_eq!(backlog.push(0, 0), None);
    let mut now_ns = 0;
    let mut wait = || {
        let message = backlog.take(now_ns).expect("it is time");
        assert_eq!(backlog.failed(message, now_ns), None);
        let again_ns = backlog.next_ns().expect("it is kept");
        assert_eq!(backlog.take(again_ns - 1), None, "too early");
        let waited_ns = again_ns - now_ns;
        now_ns = again_ns;
        waited_ns
    };
    (0..failures).map(|_| wait()).collect()
}

#[test]
fn a_kept_message_is_sent_again_after_each_back_off() {
    let waits = back_offs(backlog(retry()), 10);
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map(|seconds| seconds * S));
    let constant = back_offs(backlog(Retry { factor_percent: 100, ..retry() }), 3);
    assert_eq!(constant, [2 * S; 3]);
    let slower = back_offs(backlog(Retry { factor_percent: 150, ..retry() }), 3);
    assert_eq!(slower, [2 * S, 3 * S, 45 * S / 10]);
}

#[test]
fn jitter_lies_within_half_of_itself_and_is_drawn_once_an_attempt() {
    let jittered = Retry { factor_percent: 100, jitter_percent: 20, ..retry() };
    let waits = back_offs(backlog(jittered), 200);
    assert!(waits.iter().all(|wait_ns| (18 * S / 10..=22 * S / 10).contains(wait_ns)), "{waits:?}");
    let (least, most) = (waits.iter().min().expect("waits"), waits.iter().max().expect("waits"));
    assert!(most - least > 3 * S / 10, "{least} {most}");
    assert_eq!(back_offs(backlog(jittered), 200), waits);
    assert_ne!(back_offs(Backlog::new(jittered, 2, 0), 200), waits);
    assert_ne!(back_offs(Backlog::new(jittered, 1, 1), 200), waits);
    // Another message's draws do not depend on how often the first one failed.
    let second = |failures: u32| {
        let mut backlog = backlog(jittered);
        let mut now_ns = 0;
        assert_eq!((backlog.push(0, 0), backlog.push(1, 0)), (None, None));
        for _ in 0..failures {
            let message = backlog.take(now_ns).expect("it is time");
            backlog.failed(message, now_ns);
            now_ns = backlog.next_ns().expect("kept");
        }
        backlog.take(now_ns).expect("it is time");
        backlog.ended();
        let message = backlog.take(now_ns).expect("the next");
        backlog.failed(message, now_ns);
        backlog.next_ns().map(|again_ns| again_ns - now_ns)
    };
    assert_eq!(second(1), second(7));
}

#[test]
fn a_message_that_was_sent_ends_the_back_off_and_the_next_follows_at_once() {
    let mut backlog = backlog(retry());
    assert_eq!((backlog.push(0, 0), backlog.push(1, S)), (None, None));
    for now_ns in [S, 3 * S] {
        let message = backlog.take(now_ns).expect("it is time");
        assert_eq!(backlog.failed(message, now_ns), None);
    }
    assert_eq!(backlog.take(6 * S), None, "later ones wait behind it");
    let first = backlog.take(7 * S).expect("it is time");
    assert_eq!((first.index, first.attempts), (0, 3));
    backlog.ended();
    let next = backlog.take(7 * S).expect("no back-off is left");
    assert_eq!((next.index, next.attempts), (1, 1));
    assert_eq!(backlog.failed(next, 8 * S), None);
    assert_eq!(backlog.next_ns(), Some(10 * S), "the first back-off again");
}

#[test]
fn a_full_backlog_drops_the_oldest() {
    let mut backlog = backlog(retry());
    assert!((0..100).all(|index| backlog.push(index, u64::from(index) * S).is_none()));
    let dropped = backlog.push(100, 100 * S).expect("one too many");
    assert_eq!((dropped.index, dropped.outcome, attempts(&dropped)), (0, Outcome::Failed, Some(0)));
    assert_eq!(dropped.error.as_deref(), Some("dropped: the backlog holds 100 messages"));
    assert_eq!((dropped.intended_start_ns, dropped.start_ns, dropped.end_ns), (0, 100 * S, 100 * S));
    // One that is under way is not among the kept, and is the oldest when it comes back.
    let taken = backlog.take(100 * S).expect("it is time");
    assert_eq!(backlog.push(101, 101 * S), None);
    let row = Exchange { index: 1, start_ns: 100 * S, end_ns: 110 * S, ..Exchange::default() };
    let failed = Message { last: Some(row), ..taken };
    let dropped = backlog.failed(failed, 110 * S).expect("one too many");
    assert_eq!((dropped.index, dropped.outcome, attempts(&dropped)), (1, Outcome::Failed, Some(1)));
    assert_eq!((dropped.intended_start_ns, dropped.start_ns, dropped.end_ns), (S, 100 * S, 110 * S));
    assert_eq!(backlog.take(111 * S), None, "the next one waits for the back-off too");
    assert_eq!(backlog.take(112 * S).expect("it is over").index, 2);
}

#[test]
fn a_message_that_was_kept_too_long_has_timed_out() {
    let mut backlog = backlog(retry());
    assert_eq!((backlog.push(0, 0), backlog.push(1, S)), (None, None));
    let message = backlog.take(12 * H - S).expect("it is time");
    assert_eq!(backlog.failed(message, 12 * H - S), None);
    assert_eq!((backlog.too_old(12 * H - 1), backlog.next_ns()), (None, Some(12 * H)));
    let given_up = backlog.too_old(12 * H + S / 2).expect("too old");
    assert_eq!((given_up.index, given_up.outcome, attempts(&given_up)), (0, Outcome::TimedOut, Some(1)));
    assert_eq!((given_up.error.as_deref(), given_up.end_ns), (Some("kept for 12 h"), 12 * H));
    assert_eq!(backlog.too_old(12 * H + S / 2), None);
    let next = backlog.too_old(12 * H + S).expect("too old without an attempt");
    assert_eq!((next.index, attempts(&next), backlog.is_empty()), (1, Some(0), true));
}

#[test]
fn what_is_left_at_the_end_has_timed_out() {
    let mut backlog = backlog(retry());
    assert_eq!(backlog.push(4, S), None);
    let row = backlog.left_over(9 * S).expect("it is kept");
    assert_eq!((row.index, row.outcome, row.end_ns), (4, Outcome::TimedOut, 9 * S));
    assert_eq!(row.error.as_deref(), Some("kept until the end of the trial"));
    assert_eq!((backlog.left_over(9 * S), backlog.next_ns()), (None, None));
}

#[test]
fn durations_are_written_in_their_largest_unit() {
    let words: Vec<String> = [12 * H, 5_400 * S, 10 * S, 1_500_000, 7].into_iter().map(in_units).collect();
    assert_eq!(words, ["12 h", "90 min", "10 s", "1500 us", "7 ns"]);
}
