"""Third-party programs as the shipped file and a user's own describe them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wirelab.errors import WirelabError
from wirelab.experiment.file.workload import WorkloadTable
from wirelab.experiment.programs.implementations import ClientEntry, Implementation, RoleEntry, ServerEntry
from wirelab.experiment.programs.texts import PER_EXCHANGE
from wirelab.runner.implementations import load, missing, version
from wirelab.schema import ProtocolDescription, Role, registered
from wirelab.site import Kind, Resource, Site
from wirelab.site.hints import page_variables

VALUES = {
    "address": "10.0.0.2", "host": "10.0.0.2", "port": 8443, "name": "server.test", "directory": "/d",
    "chain": "/c/chain.pem", "key": "/c/key.pem", "authority": "/c/authority.pem", "upload_bytes": 30,
    "download_bytes": 200, "parameters": "/d/parameters.json", "resources": (), "media_types": (),
}  # fmt: skip


def values(entry: RoleEntry, protocol: str, settings: dict[str, Any], **facts: object) -> dict[str, object]:
    workload = WorkloadTable.model_validate({"kind": "request-response", "message": "30 B"}).spec()
    return {**entry.variables(protocol, settings, workload), **VALUES, **facts}


def for_each(name: str, protocol: str, *, upload: bool, **settings: Any) -> list[str]:
    """The command of a client that is executed for each exchange."""
    program = load(None)[name]
    entry = program.roles.client
    assert isinstance(entry, ClientEntry)
    return program.command(
        [*entry.per_exchange, *entry.arguments], values(entry, protocol, settings, upload=upload, **PER_EXCHANGE)
    )


def curl(protocol: str, *, upload: bool = True, **settings: object) -> list[str]:
    return for_each("curl", protocol, upload=upload, **{"expect-continue": False, **settings})


def configured(name: str, protocol: str, settings: dict[str, Any], **facts: object) -> str:
    """The files of a server, and its command."""
    program = load(None)[name]
    entry = program.roles.server
    assert isinstance(entry, ServerEntry)
    known = values(entry, protocol, settings, upload=True, **facts)
    files = [program.text(file.text, known) for file in entry.files]
    return "\n".join([*files, *program.command([*entry.command, *entry.arguments], known)])


def nginx(protocol: str, **settings: object) -> str:
    return configured("nginx", protocol, settings)


def test_curl_speaks_the_version_of_http_that_the_protocol_names() -> None:
    assert "--http1.1" in curl("http1")
    assert "--http2-prior-knowledge" in curl("h2c")
    assert "--http2" in curl("h2", tls="1.3")
    assert "--cacert" not in curl("http1")
    assert curl("https1")[curl("https1").index("--cacert") + 1] == "/c/authority.pem"


def test_curl_offers_one_tls_version() -> None:
    assert curl("h2", tls="1.2")[-1] == "{url}"
    assert [word for word in curl("h2", tls="1.2") if "tls" in word or word == "1.2"] == [
        "--tlsv1.2",
        "--tls-max",
        "1.2",
    ]
    assert "--tlsv1.3" in curl("h2", tls="1.3")


def test_curl_uploads_the_bytes_unchanged_and_asks_for_a_100_only_when_set() -> None:
    assert "@{upload_file}" in curl("http1")
    assert "--data-binary" not in curl("http1", upload=False)
    assert "Expect:" in curl("http1")
    assert "Expect: 100-continue" in curl("http1", **{"expect-continue": True})


def test_curls_starttransfer_goes_to_the_field_of_the_same_meaning() -> None:
    def fields(*words: object, **settings: object) -> str:
        command = curl(*words, **settings)  # type: ignore[arg-type]
        return command[command.index("--write-out") + 1]

    assert '"first_final_byte_s":%{time_starttransfer}' in fields("http1")
    assert '"first_body_sent_s":%{time_starttransfer}' in fields("h2", tls="1.3")
    assert "first_body_sent_s" not in fields("h2", upload=False, tls="1.3")
    assert "first_final_byte_s" not in fields("http1", **{"expect-continue": True})
    assert all('"curl_starttransfer_s":%{time_starttransfer}' in fields(protocol) for protocol in ("http1", "h2c"))


def nghttp(**settings: object) -> list[str]:
    return for_each("nghttp", "h2", upload=False, **settings)


def test_nghttp_gets_a_window_as_the_power_of_two_above_it() -> None:
    words = nghttp(**{"initial-window-size": 4095, "connection-window": 65_535, "header-table-size": 0})
    assert {"--window-bits=12", "--connection-window-bits=16", "--header-table-size=0"} <= {*words}
    assert not [word for word in nghttp(**{"initial-window-size": "default"}) if "window" in word]
    [entry] = filter(None, [load(None)["nghttp"].roles.client])
    h2 = described("h2")
    default = {setting.name: setting.default for setting in h2.settings}
    work = WorkloadTable(kind="telemetry").spec()
    assert entry.refusal(h2, default | {"initial-window-size": 4095}, work) is None
    assert "initial-window-size" in (entry.refusal(h2, default | {"initial-window-size": 4096}, work) or "")


def test_nginx_gets_only_the_settings_that_are_not_left_to_it() -> None:
    text = nginx("h2", tls="1.3", **{"initial-window-size": 4095, "max-concurrent-streams": "default"})
    assert "http2_body_preread_size 4095;" in text
    assert "http2_max_concurrent_streams" not in text


def test_nginx_listens_where_clients_connect_and_writes_only_to_its_folder() -> None:
    text = nginx("h2", tls="1.2", resumption=False)
    assert "listen 10.0.0.2:8443 ssl http2;" in text
    assert "ssl_protocols TLSv1.2;" in text
    assert "ssl_session_tickets off;" in text
    assert "root /d/www;" in text
    assert "/var/" not in text
    assert "listen 10.0.0.2:8443;" in nginx("http1")
    assert "ssl_" not in nginx("http1")
    assert "ssl_session_tickets on;" in nginx("https1", tls="1.3", resumption=True)


def resource(path: str, media_type: str, kind: Kind = Kind.IMAGE) -> Resource:
    parent = None if kind is Kind.DOCUMENT else 0
    return Resource(path=path, body_bytes=1, sha256="0" * 64, media_type=media_type, kind=kind, parent=parent)


SITE = Site(
    resources=(
        resource("/index.html", "text/html", Kind.DOCUMENT),
        resource("/a%20b.css", "text/css", Kind.STYLESHEET),
        resource("/1.jpg", "image/jpeg"),
        resource("/2.jpg", "image/jpeg"),
        resource("/bare", "text/plain"),
    )
)


def page_files(name: str, hints: str) -> str:
    settings = {"tls": "1.3", "hints": hints}
    return configured(name, "h2", settings, workload="page", **page_variables(SITE, Path("/pages/site")))


def test_a_page_server_gets_each_resource_once_in_its_own_form() -> None:
    text = page_files("nginx", "push")
    assert "root /pages/site;" in text
    assert [line.strip() for line in text.splitlines() if "http2_push" in line] == [
        'http2_push "/a%20b.css";', 'http2_push "/1.jpg";', 'http2_push "/2.jpg";', 'http2_push "/bare";',
    ]  # fmt: skip
    assert "add_header" not in text
    assert 'location = "/index.html" {' in text
    assert page_files("nginx", "preload").count("add_header Link") == 4
    assert "--push=/index.html=/a%20b.css,/1.jpg,/2.jpg,/bare" in page_files("nghttpd", "push")


def test_equal_values_are_written_once_and_missing_ones_not_at_all() -> None:
    text = page_files("nginx", "none")
    assert [line.strip() for line in text.splitlines() if line.strip().startswith(("text/", "image/"))] == [
        "text/html html;", "text/css css;", "image/jpeg jpg;",
    ]  # fmt: skip


def test_a_character_that_the_program_uses_itself_is_doubled() -> None:
    assert 'Header add Link "</a%%20b.css>; rel=preload; as=style"' in page_files("apache", "preload")
    assert 'H2PushResource "/a%20b.css"' in page_files("apache", "push")


def test_without_a_page_nothing_is_written() -> None:
    assert "http2_push " not in nginx("h2", tls="1.3", hints="none")
    assert "location =" not in nginx("h2", tls="1.3", hints="none").replace("location = /read", "")


def test_no_placeholder_of_ours_is_left() -> None:
    for protocol in ("http1", "https1", "h2c", "h2"):
        text = nginx(protocol, tls="1.3", resumption=False)
        assert "{" not in text.replace(" {", "").replace("\n}", ""), text
        assert not [w for w in curl(protocol, tls="1.3") if "{{" in w or "{%" in w]


def test_the_protocols_and_settings_of_an_entry_exist() -> None:
    for program in load(None).values():
        for entry in filter(None, (program.roles.client, program.roles.server)):
            protocols = [registered().protocol(name) for name in entry.protocols]
            names = {setting.name for protocol in protocols if protocol is not None for setting in protocol.settings}
            assert None not in protocols
            assert set(entry.settings) <= names


def described(protocol: str) -> ProtocolDescription:
    found = registered().protocol(protocol)
    assert found is not None
    return found


def test_an_entry_refuses_what_it_does_not_do_and_says_why() -> None:
    [entry] = filter(None, [load(None)["curl"].roles.client])
    defaults = {setting.name: setting.default for setting in described("http1").settings}
    fresh, kept = WorkloadTable().spec(), WorkloadTable.model_validate({"connection": "persistent"}).spec()
    stream = WorkloadTable(kind="stream").spec()
    assert entry.refusal(described("http1"), defaults, fresh) is None
    assert entry.refusal(described("h3"), {}, fresh) == "does not speak h3 (it speaks http1, https1, h2c, h2)"
    assert entry.refusal(described("http1"), defaults, kept) == "does not do connection = 'persistent'"
    assert entry.refusal(described("http1"), defaults, stream) == "does not do stream"
    assert (
        entry.refusal(described("http1"), defaults | {"nagle": True}, fresh) == "does not take the setting nagle = True"
    )


def test_a_client_that_performs_the_workload_itself_asks_no_link_to_rest() -> None:
    idle = WorkloadTable.model_validate({"arrival": "idle-start", "interval": "1 h"}).spec()
    of_one_exchange, itself = (load(None)[name].roles.client for name in ("curl", "aiocoap"))
    assert of_one_exchange is not None
    assert itself is not None
    assert of_one_exchange.refusal(described("http1"), {}, idle) is None
    assert itself.refusal(described("coap"), {}, WorkloadTable().spec()) is None
    assert itself.refusal(described("coap"), {}, idle) == (
        "performs the workload itself and does not do arrival = 'idle-start'"
    )


def test_a_client_that_performs_the_workload_itself_keeps_no_message() -> None:
    kept = WorkloadTable.model_validate({"interval": "1 h", "retry": {}}).spec()
    of_one_exchange, itself = (load(None)[name].roles.client for name in ("curl", "aiocoap"))
    assert of_one_exchange is not None
    assert itself is not None
    assert of_one_exchange.refusal(described("http1"), {}, kept) is None
    assert itself.refusal(described("coap"), {}, kept) == "performs the workload itself and does not do retry"


def test_a_browser_of_a_third_party_delays_no_request() -> None:
    held = WorkloadTable.model_validate({"kind": "page", "request-delay": "100 ms"}).spec()
    browser, server = load(None)["chromium"].roles.client, load(None)["nginx"].roles.server
    assert browser is not None
    assert server is not None
    assert browser.refusal(described("h2"), {}, held) == "does not do request-delay"
    assert server.refusal(described("h2"), {}, held) is None


def test_some_values_of_a_setting_may_need_certain_workloads() -> None:
    entry = load(None)["rabbitmq"].roles.server
    assert entry is not None
    amqp = {setting.name: setting.default for setting in described("amqp").settings}
    deliver, notify = (WorkloadTable(kind=kind).spec() for kind in ("telemetry", "pubsub"))
    assert entry.refusal(described("amqp"), amqp, deliver) is None
    assert entry.refusal(described("amqp"), amqp, notify) == "does this only with address-prefix = '/topic/'"
    assert entry.refusal(described("amqp"), amqp | {"address-prefix": "/topic/"}, notify) is None
    mqtt = {setting.name: setting.default for setting in described("mqtt").settings}
    assert entry.refusal(described("mqtt"), mqtt, notify) is None
    assert entry.refusal(described("mqtt"), mqtt | {"version": "5"}, deliver) == "does this only with version = '3.1.1'"


def test_an_unknown_workload_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "implementations.toml"
    path.write_text(OWN.replace("\ncommand", '\nworkloads = ["telemetri"]\ncommand'))
    with pytest.raises(WirelabError, match=r"mine\.roles\.server\.workloads\.0") as raised:
        load(tmp_path)
    assert "did you mean 'telemetry'?" in str(raised.value)


def test_a_client_run_for_each_exchange_needs_a_command_to_subscribe(tmp_path: Path) -> None:
    text = OWN.replace("server", "client").replace("\ncommand = ", "\nper_exchange = ").replace('ready = "event"', "")
    path = tmp_path / "implementations.toml"
    path.write_text(text + 'workloads = ["pubsub"]\n')
    with pytest.raises(WirelabError, match="needs `waiting` for notify and stream"):
        load(tmp_path)
    path.write_text(text + 'workloads = ["pubsub"]\nwaiting = ["mine"]\n')
    assert load(tmp_path)["mine"].serves("client", "http1")


OWN = """
[mine]
title = "Mine"
homepage = "https://example.org"
install = "cargo install mine"
version_command = ["mine", "--version"]
[mine.roles.server]
protocols = ["http1"]
command = ["mine", "{{ port }}"]
ready = "event"
"""


def test_a_file_next_to_the_experiment_adds_programs(tmp_path: Path) -> None:
    (tmp_path / "implementations.toml").write_text(OWN)
    found = load(tmp_path)
    assert found.keys() == {*load(None), "mine"}
    assert found["mine"].role(Role.CLIENT) is None


def test_a_mistake_in_a_users_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "implementations.toml"
    path.write_text(OWN.replace("protocols", "protocol"))
    with pytest.raises(WirelabError, match=r"mine\.roles\.server\.protocol: unknown key") as raised:
        load(tmp_path)
    assert str(path) in str(raised.value)
    path.write_text("[mine")
    with pytest.raises(WirelabError):
        load(tmp_path)


def test_a_missing_program_has_no_version() -> None:
    entry = Implementation.model_validate(
        {"title": "", "homepage": "", "install": "", "version_command": ["no-such-program-here"], "roles": {}}
    )
    assert version(entry) is None


def test_a_client_is_run_once_or_for_each_exchange_never_both(tmp_path: Path) -> None:
    text = """
[mine]
title = "Mine"
homepage = "https://example.org"
install = "it is here"
version_command = ["true"]
[mine.roles.client]
protocols = ["http1"]
"""
    (tmp_path / "implementations.toml").write_text(text)
    with pytest.raises(WirelabError, match="either `command` or `per_exchange`"):
        load(tmp_path)


def test_a_script_counts_as_missing_without_its_library() -> None:
    script = load(None)["aioquic"].model_copy(update={"python_module": "no_such_module_here"})
    assert missing(script) == f"the Python module no_such_module_here is not installed; {script.install}"
    assert version(script) is None
