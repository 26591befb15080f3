//! What the processes of an endpoint used, also of those that ended early.

use wirelab_schema::{EndpointProcess, EndpointResult};

use crate::machine::namespaces_work;
use crate::support::{Host, ONE_WAY, cpu_ns, delay};

fn used(endpoints: impl FnOnce(&Host) -> Vec<EndpointProcess>) -> Vec<EndpointResult> {
    let mut host = Host::start();
    host.open(1);
    let trial = host.trial("used", delay(ONE_WAY), endpoints(&host));
    host.run(trial).endpoints
}

#[test]
fn what_outlives_its_parent_counts_to_the_endpoint_that_it_descends_from() {
    if !namespaces_work() {
        return;
    }
    let words = "(./endpoint roles::spinner --exact --ignored &); sleep 1.5";
    let found = used(|host| {
        let mut idle = host.endpoint("server", &["sleep", "1000"]);
        idle.ends_trial = false;
        vec![idle, host.endpoint("client", &["sh", "-c", words])]
    });
    let used_ns: Vec<_> = found.iter().map(cpu_ns).collect();
    assert!(used_ns[1] > 50_000_000, "{found:?}");
    assert!(used_ns[0] * 4 < used_ns[1], "{found:?}");
}

#[test]
fn a_server_that_is_seen_to_be_ready_has_an_idle_cost_and_its_memory_is_sampled() {
    if !namespaces_work() {
        return;
    }
    let found = used(|host| vec![host.server("udp_echo"), host.endpoint("client", &["sleep", "1"])]);
    let [server, client] = &found[..] else { panic!("{found:?}") };
    let ready_ns = server.cpu_ready_ns.expect("it was found ready");
    assert!(ready_ns > 0 && ready_ns <= 2 * cpu_ns(server), "{server:?}");
    assert_eq!(client.cpu_ready_ns, None, "it never says so");
    for endpoint in &found {
        assert!(endpoint.memory_samples > 0 && endpoint.proportional_memory_bytes > Some(0), "{endpoint:?}");
        assert!(endpoint.voluntary_switches > Some(0), "{endpoint:?}");
    }
}

#[test]
fn an_endpoints_own_idle_cost_wins_over_the_observed_one() {
    if !namespaces_work() {
        return;
    }
    let words = "echo '{\"event\": \"ready\", \"ports\": {}, \"cpu_ns\": 7}'";
    let found = used(|host| vec![host.endpoint("client", &["sh", "-c", words])]);
    assert_eq!(found[0].cpu_ready_ns, Some(7));
}
