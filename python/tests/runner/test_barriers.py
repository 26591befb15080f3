import pytest

from tests.asked import ask
from tests.runner.fakes import make_plan
from wirelab.runner.barriers import NAMED, Barrier, forecast, link_barrier, program_barrier
from wirelab.runner.implementations import load
from wirelab.schema import DropTail, DutyCycle, Fixed, LinkSpec, Persistent, PubSub, RequestResponse, Resumed, link_key
from wirelab.schema.campaign import EntryStatus
from wirelab.schema.plan import Plan
from wirelab.schema.workload import Poll


def kept(plan: Plan) -> Plan:
    """The plan with persistent connections in its first scenario."""
    first, *rest = plan.scenarios
    assert isinstance(first.workload, RequestResponse)
    workload = first.workload.model_copy(update={"connection": Persistent(connections=1)})
    return plan.model_copy(update={"scenarios": (first.model_copy(update={"workload": workload}), *rest)})


def test_each_reason_is_one_line_and_a_missing_program_fails_only_its_scenarios(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wirelab.runner.implementations.find_program", lambda _: None)
    assert forecast(kept(make_plan(3, client="curl")), load(None)).words == [
        "1 of 3 scenarios would be unsupported (scenario 0): curl does not do connection = 'persistent'",
        "2 of 3 scenarios would fail (scenario 1; scenario 2): curl is not installed; apt install curl",
    ]


def test_long_lists_of_scenarios_name_the_first_few() -> None:
    [line] = forecast(make_plan(NAMED + 1, client="mine"), {}).words
    names = "; ".join(f"scenario {index}" for index in range(NAMED))
    assert line == f"4 of 4 scenarios would fail ({names}; …): no implementation 'mine' in implementations.toml"


def test_the_forecast_names_what_would_stop_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirelab.runner.implementations.find_program", lambda _: "/bin/true")
    plan, programs = kept(make_plan(2, client="curl")), load(None)
    stopped = [scenario.name for scenario in plan.scenarios if program_barrier(scenario, programs, plan.known)]
    assert stopped == ["scenario 0"]
    assert [line.partition(":")[0] for line in forecast(plan, programs).words] == [
        "1 of 2 scenarios would be unsupported (scenario 0)"
    ]


def test_a_protocol_without_requests_is_left_out_where_ways_of_waiting_are_compared() -> None:
    plan = make_plan(2)
    first, *rest = plan.scenarios
    work = PubSub(message_bytes=30, messages=1, timeout_ns=1, arrival=Fixed(rate_hz=1), wait=Poll(every_ns=1))
    polls = first.model_copy(update={"workload": work, "protocol": "mqtt"})
    plan = plan.model_copy(update={"scenarios": (polls, *rest)})
    found = forecast(plan, {})
    assert found.words == ["1 of 2 scenarios would be unsupported (scenario 0): mqtt fetches nothing by request"]
    assert found.hints == ['wait = { check-in = "10 min" }']


def test_a_protocol_without_sessions_resumes_none() -> None:
    plan = make_plan(2)
    changed = []
    for scenario, protocol in zip(plan.scenarios, ("coap", "https1"), strict=True):
        assert isinstance(scenario.workload, RequestResponse)
        work = scenario.workload.model_copy(update={"connection": Resumed()})
        changed.append(scenario.model_copy(update={"workload": work, "protocol": protocol, "settings": {}}))
    assert forecast(plan.model_copy(update={"scenarios": tuple(changed)}), {}).words == [
        "1 of 2 scenarios would be unsupported (scenario 0): coap has no session that could be resumed"
    ]


def test_a_program_says_how_subscribers_may_wait() -> None:
    plan = make_plan(1, client="curl")
    work = PubSub(message_bytes=30, messages=1, timeout_ns=1, arrival=Fixed(rate_hz=1), wait=Poll(every_ns=1))
    [scenario] = plan.scenarios
    polls = scenario.model_copy(update={"workload": work})
    words = forecast(plan.model_copy(update={"scenarios": (polls,)}), load(None)).words
    assert [line.partition(": ")[2] for line in words] == ["curl does not do wait = 'poll'"]


def test_tls_over_lorawan_is_refused_with_both_reasons() -> None:
    plan = make_plan(2)
    first, second = plan.scenarios
    assert isinstance(first.workload, RequestResponse)
    way = (DutyCycle(rate_bps=250, share=0.01, queue=DropTail(bytes=4000)),)
    slow = LinkSpec(uplink=way, downlink=way)
    patient = first.workload.model_copy(update={"timeout_ns": 3600 * 10**9})
    tls = {"link": slow, "link_name": "lora", "protocol": "https1", "settings": {}}
    scenarios = (
        first.model_copy(update={**tls, "workload": patient}),
        second.model_copy(update={**tls, "workload": first.workload}),
    )
    plan = plan.model_copy(update={"scenarios": scenarios, "link_facts": {link_key(slow): ask(slow)}})
    carries, what = "lora carries 2.5 bit/s:", "opening https1 (590 B up, 860 B down) takes"
    assert [link_barrier(each, plan) for each in plan.scenarios] == [
        Barrier(
            EntryStatus.UNSUPPORTED, f"{carries} a flight of {what} 22.9 min at least, and TCP gives up after 15.4 min"
        ),
        Barrier(EntryStatus.UNSUPPORTED, f"{carries} {what} 45.9 min at least, and workload.timeout is 1 s"),
    ]
    assert forecast(plan, {}).unsupported == {each.key for each in plan.scenarios}
    assert link_barrier(make_plan(1).scenarios[0], make_plan(1)) is None
