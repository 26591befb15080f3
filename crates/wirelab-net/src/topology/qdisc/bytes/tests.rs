//! What iproute2's `tc` (6.1.0) sends for the command above each case, as strace showed it.

use rtnetlink::packet_core::{Emitable, Nla};

use super::*;

/// What follows in ours and tc leaves out: the delay and the jitter in nanoseconds, and the seed.
fn beyond_tc(delay_ns: i64, jitter_ns: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, value) in [(TCA_NETEM_LATENCY64, delay_ns), (TCA_NETEM_JITTER64, jitter_ns), (TCA_NETEM_PRNG_SEED, 7)] {
        put(&mut bytes, kind, &value.to_ne_bytes());
    }
    bytes
}

fn netem() -> Netem {
    Netem { limit: 1000, seed: 7, ..Netem::default() }
}

fn chance(probability: f64, correlation: f64) -> Chance {
    Chance { probability, correlation }
}

#[track_caller]
fn is_sent_as_by_tc(netem: Netem, tc: &str) {
    let jitter_ns = netem.jitter.as_ref().map_or(0, |jitter| jitter.unit_ns.into());
    let expected = [hex(tc), beyond_tc(netem.delay_ns, jitter_ns)].concat();
    assert_eq!(netem_options(&netem), expected);
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn a_constant_delay_is_sent_as_by_tc() {
    // netem delay 10ms limit 1000
    let tc = "5a620200 e8030000 00000000 00000000 00000000 00000000";
    is_sent_as_by_tc(Netem { delay_ns: 10_000_000, ..netem() }, tc);
}

#[test]
fn jitter_is_sent_as_by_tc_with_its_table_behind() {
    // netem delay 10ms 3ms, to which `distribution` adds attribute 2
    let jitter = NetemJitter { unit_ns: 3_000_000, table: vec![-8192, 1, 32767] };
    let tc = "5a620200 e8030000 00000000 00000000 00000000 1bb70000  0a000200 00e0 0100 ff7f 0000";
    is_sent_as_by_tc(Netem { delay_ns: 10_000_000, jitter: Some(jitter), ..netem() }, tc);
}

#[test]
fn correlated_loss_is_sent_as_by_tc() {
    // netem loss 10% 30%
    let tc = "00000000 e8030000 9a999919 00000000 00000000 00000000  10000100 00000000 cccccc4c 00000000";
    is_sent_as_by_tc(Netem { loss: Some(NetemLoss::Independent(chance(0.1, 0.3))), ..netem() }, tc);
}

#[test]
fn gilbert_elliott_is_sent_as_by_tc() {
    // netem loss gemodel 1% 10% 70% 0.1%
    let loss = NetemLoss::GilbertElliott { p: 0.01, r: 0.1, bad_pass: 1.0 - 0.7, good_loss: 0.001 };
    let tc =
        "00000000 e8030000 00000000 00000000 00000000 00000000  18000580 14000200 295c8f02 9a999919 cdcccc4c 37894100";
    let [ours, theirs] = [netem_options(&Netem { loss: Some(loss), ..netem() }), hex(tc)];
    // 1 - 0.7 is not 30 % to the last of 32 bits.
    assert_eq!(ours[..40], theirs[..40]);
    assert!(word(&ours, 40).abs_diff(word(&theirs, 40)) <= 1);
    assert_eq!(ours[44..48], theirs[44..48]);
}

#[test]
fn four_states_are_sent_as_by_tc() {
    // netem loss state 1% 20% 30% 40% 2%
    let loss = NetemLoss::FourState { p13: 0.01, p31: 0.2, p32: 0.3, p23: 0.4, p14: 0.02 };
    let tc = "00000000 e8030000 00000000 00000000 00000000 00000000
        1c000580 18000100 295c8f02 33333333 cccccc4c 52b81e05 66666666";
    is_sent_as_by_tc(Netem { loss: Some(loss), ..netem() }, tc);
}

#[test]
fn what_leaves_a_state_for_certain_does_not_overflow_netems_sum() {
    let loss = NetemLoss::FourState { p13: 0.5, p31: 0.5, p32: 0.5, p23: 1.0, p14: 0.5 };
    let bytes = netem_options(&Netem { loss: Some(loss), ..netem() });
    let [p13, p31, p32, p14] = [32, 36, 40, 44].map(|at| word(&bytes, at));
    assert_eq!([p13.checked_add(p14), p31.checked_add(p32)], [Some(u32::MAX); 2]);
}

#[test]
fn duplication_and_corruption_are_sent_as_by_tc() {
    // netem duplicate 2%
    let duplicate = "00000000 e8030000 00000000 00000000 52b81e05 00000000";
    is_sent_as_by_tc(Netem { duplicate: chance(0.02, 0.0), ..netem() }, duplicate);
    // netem corrupt 1%
    let corrupt = "00000000 e8030000 00000000 00000000 00000000 00000000  0c000400 295c8f02 00000000";
    is_sent_as_by_tc(Netem { corrupt: chance(0.01, 0.0), ..netem() }, corrupt);
}

#[test]
fn reordering_is_sent_as_by_tc() {
    // netem delay 20ms reorder 75% gap 1
    let tc = "b4c40400 e8030000 00000000 01000000 00000000 00000000  0c000300 ffffffbf 00000000";
    is_sent_as_by_tc(Netem { delay_ns: 20_000_000, at_once: chance(0.75, 0.0), ..netem() }, tc);
}

#[test]
fn rates_are_sent_as_by_tc() {
    let rate = |bytes_per_second, overhead_bytes| Netem {
        limit: 11,
        rate: Some(NetemRate { bytes_per_second, overhead_bytes }),
        ..netem()
    };
    // netem rate 1mbit -4 limit 11
    let small = "00000000 0b000000 00000000 00000000 00000000 00000000  14000600 48e80100 fcffffff 00000000 00000000";
    is_sent_as_by_tc(rate(125_000, -4), small);
    // netem rate 40gbit limit 11
    let large = "00000000 0b000000 00000000 00000000 00000000 00000000
        0c000800 00f2052a 01000000  14000600 ffffffff 00000000 00000000 00000000";
    is_sent_as_by_tc(rate(5_000_000_000, 0), large);
}

#[test]
fn a_token_bucket_is_sent_as_by_tc_without_its_rate_table() {
    // stab overhead -14 tbf rate 1mbit burst 3000 limit 10000
    let tbf = Tbf { bytes_per_second: 125_000, burst_bytes: 3000, limit_bytes: 10_000, overhead_bytes: -14 };
    let tc =
        "28000100 03010000 ffff0000 48e80100 00000000 00000000 00000000 10270000 d8b80500 00000000  08000600 b80b0000";
    assert_eq!(tbf_options(&tbf), hex(tc));
    let stab = size_table(-14).unwrap();
    let mut value = vec![0; stab.value_len()];
    stab.emit_value(&mut value);
    assert_eq!((stab.kind(), value), (8, hex("1c000100 00000000 f2ffffff 00000000 00000000 00000000 00000000")));
}

#[test]
fn qdiscs_that_count_whole_frames_need_no_size_table() {
    assert_eq!(size_table(0), None);
}

#[test]
fn a_message_has_the_kind_and_the_options_as_they_are() {
    let attributes = Qdisc::Netem(Box::new(netem())).attributes();
    let mut bytes = vec![0; attributes.as_slice().buffer_len()];
    attributes.as_slice().emit(&mut bytes);
    // kind "netem", padded, then attribute 2: as behind the header of any of tc's messages.
    let head = hex("0a000100 6e657465 6d000000 40000200");
    assert_eq!(bytes, [head, netem_options(&netem())].concat());
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
}
