//! Descriptions of stages for tests, also of `wirelab-capture`.
#![allow(dead_code, reason = "each test binary uses its own part")]

use wirelab_link::IMPAIRMENTS;
use wirelab_link::impairment::{
    DelaySpec, Ieee802154Spec, ImpairmentSpec, JitterSpec, LossSpec, MediumSpec, NatSpec, RadioSpec, RateSpec,
    SchedulePoint, ScheduleSpec, SharedSpec, SleepSpec, WifiSpec,
};
use wirelab_link::queue::QueueSpec;

pub const MILLISECOND: u64 = 1_000_000;

pub fn drop_tail(bytes: u64) -> QueueSpec {
    QueueSpec::DropTail { bytes: Some(bytes), packets: None }
}

pub fn codel(bytes: u64) -> QueueSpec {
    QueueSpec::Codel { target_ns: 5 * MILLISECOND, interval_ns: 100 * MILLISECOND, bytes }
}

pub fn fq_codel(packets: u32) -> QueueSpec {
    QueueSpec::FqCodel {
        target_ns: 5 * MILLISECOND,
        interval_ns: 100 * MILLISECOND,
        flows: 1024,
        quantum_bytes: 1514,
        packets,
    }
}

pub fn delay(delay_ns: u64, jitter: Option<JitterSpec>) -> ImpairmentSpec {
    ImpairmentSpec::Delay(DelaySpec { delay_ns, jitter, correlation: 0.0, overtaking: false })
}

pub fn loss(probability: f64) -> ImpairmentSpec {
    ImpairmentSpec::Loss(LossSpec { probability, correlation: 0.0 })
}

pub fn rate_of(rate_bps: u64, queue: QueueSpec, overhead_bytes: u32) -> ImpairmentSpec {
    ImpairmentSpec::Rate(RateSpec { rate_bps, queue, overhead_bytes })
}

pub fn schedule_of(points: Vec<SchedulePoint>, repeat_ns: Option<u64>) -> ImpairmentSpec {
    ImpairmentSpec::Schedule(ScheduleSpec { points, repeat_ns, queue: drop_tail(10_000), overhead_bytes: 0 })
}

pub fn at_ms(at_ms: u64, rate_bps: Option<u64>) -> SchedulePoint {
    SchedulePoint { at_ns: at_ms * MILLISECOND, delay_ns: None, rate_bps, loss: None }
}

pub fn wifi(frame_error: f64) -> MediumSpec {
    MediumSpec::Wifi(WifiSpec {
        rate_bps: 24_000_000,
        overhead_bytes: 36,
        preamble_ns: 20_000,
        ack_ns: 28_000,
        slot_ns: 9000,
        sifs_ns: 10_000,
        difs_ns: 28_000,
        cw_min: 15,
        cw_max: 1023,
        retries: 6,
        frame_error,
        queue_bytes: Some(100_000),
        queue_packets: None,
    })
}

pub fn ieee802154(frame_error: f64) -> MediumSpec {
    MediumSpec::Ieee802154(Ieee802154Spec {
        compressed_bytes: 40,
        mac_bytes: 23,
        frame_error,
        retries: 3,
        max_backoffs: 4,
        min_be: 3,
        max_be: 5,
        queue_bytes: Some(10_000),
        queue_packets: None,
    })
}

pub fn psm() -> RadioSpec {
    let sleep = |after_ms, cycle_ms: Option<u64>| SleepSpec {
        after_ns: after_ms * MILLISECOND,
        cycle_ns: cycle_ms.map(|cycle| cycle * MILLISECOND),
        wake_ns: MILLISECOND,
    };
    RadioSpec { sleeps: vec![sleep(2, Some(3)), sleep(20, None)], buffer_bytes: 4000 }
}

pub fn nat_of_10_ms() -> NatSpec {
    let [example] = &NatSpec::examples()[..] else { panic!("there is one") };
    NatSpec {
        udp_timeout_ns: 10 * MILLISECOND,
        tcp_transitory_timeout_ns: 20 * MILLISECOND,
        tcp_established_timeout_ns: 20 * MILLISECOND,
        ..example.clone()
    }
}

/// Every example of every impairment.
pub fn one_of_each() -> Vec<ImpairmentSpec> {
    IMPAIRMENTS.iter().flat_map(|kind| (kind.examples)()).collect()
}
