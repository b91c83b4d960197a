"""Messages of sinks: made in a process of its own, sent by a real driver to a real receiver, or by
a program, a process for each. Checks that products name: one that fails stops the delivery until
a person decides.
"""

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from builders import job_rows
from callbacks.receiver import answering, hang, receiving
from callbacks.sink_site import site
from callbacks.test_live import DEADLINE_S, Live, driving, live
from store.test_lifecycles import HRSI, both, statuses
from store.test_products import name
from store.test_sinks import SINK
from weft.core.deliveries.sinks import is_rejected
from weft.core.errors import MessageNotHeld
from weft.ports.senders import Answered
from weft.ports.sink import Misfit, SinkMessage
from weft.run.driver_adapters import LineSinks, SinkCommands
from weft.run.isolated.asking.messages import MessageMaking
from weft.wire.sealed import SecretKeys, SecretRow
from weft_lines.rules.setup import parse_setup
from weft_lines.rules.sink import PRODUCT
from worker.spawner_process import until_gone

pytestmark = pytest.mark.slow
__all__ = ["live"]
LOOP, END = "{% for x in range(99999) %}", "{% endfor %}"


@pytest.fixture
async def making() -> AsyncIterator[MessageMaking]:
    found = MessageMaking(timeout_s=2)
    try:
        yield found
    finally:
        await found.close()


async def test_message_is_what_the_template_makes_of_the_job(making: MessageMaking) -> None:
    template = '{"id": "{{ job.id }}", "tile": {{ job.attributes.tile | tojson }}}'
    facts = {"id": "b1.j1", "attributes": {"tile": '32"TLR'}}
    assert json.loads(await making.make(1, template, facts)) == {"id": "b1.j1", "tile": '32"TLR'}


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ job.id", "unexpected end of template"),
        ("{{ job.gone }}", "has no attribute 'gone'"),
        ("not json", "it is no JSON"),
        ("{{ job.__class__.__mro__ }}", "unsafe"),
        ("{{ ''.__class__.__base__.__subclasses__() }}", "unsafe"),
        (f"{LOOP}{{{{ 'x' * 100 }}}}{END}", "longer than 1048576 bytes"),
        ("{{ 'x' * 9999999999 }}", "MemoryError"),
        (f"{LOOP}{LOOP}{END}{END}", "longer than 2 s"),
    ],
)
async def test_template_that_cannot_be_used_is_refused_and_others_go_on(
    making: MessageMaking, template: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        await making.make(1, template, {"id": "b1.j1"})
    assert await making.make(1, "1", {}) == "1"


async def test_message_of_a_file_is_its_content(making: MessageMaking) -> None:
    facts = {"id": "b1.j1", "file": "products/a.json", "product": '{"title": "A & B"}'}
    assert json.loads(await making.make(1, PRODUCT, facts)) == {"title": "A & B"}
    made = await making.make(1, '["{{ product.title }}", "{{ job.file }}"]', facts)
    assert json.loads(made) == ["A & B", "products/a.json"]
    with pytest.raises(Misfit, match="its file is no JSON"):
        await making.make(1, PRODUCT, {**facts, "product": "{"})


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"required": ["title"]}, '"title" is a required property'),
        ({"properties": {"size": {"maximum": 3}}}, "/size does not fit the schema: 7 is greater"),
        ({"type": "object"}, None),
    ],
)
async def test_message_that_does_not_fit_its_schema_is_none(
    making: MessageMaking, schema: dict[str, Any], said: str | None
) -> None:
    made = making.make(1, '{"size": 7}', {}, json.dumps(schema))
    if said is None:
        assert await made == '{"size": 7}'
        return
    with pytest.raises(Misfit, match=said):
        await made


async def test_message_that_does_not_fit_is_rejected_and_never_sent(
    live: Live, making: MessageMaking
) -> None:
    sink = SINK + "schema = {required = ['title']}\nrejected.path = ['internal_error']\n"
    async with receiving() as receiver, driving(live.dsns, make=making.make):
        batch = await scene(live, receiver.url, sink)
        await until(live, batch, "internal_error")
        (shown,) = await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)
    assert receiver.received == []
    assert (shown["state"], shown["n_attempts"]) == ("given_up", 1)
    assert "is a required property" in shown["last_error"]


async def scene(live: Live, url: str, sink: str = SINK) -> int:
    """Run a job whose sink has this address."""
    text = HRSI + sink.replace("https://endpoint.example/products", url)
    await live.world.api.save_setup(live.world.caller, "hrsi", text, parse_setup(text))
    batch = await live.world.submit(job_rows(1), lifecycle="hrsi", sink="wekeo")
    await (await live.world.worker()).run()
    return batch


async def until(live: Live, batch: int, status: str) -> list[str]:
    async with asyncio.timeout(DEADLINE_S):
        while (await both(live.world, batch))[0] != status:
            pass
    return await statuses(live.world, batch)


async def test_message_is_sent_once_and_the_job_is_done(live: Live, making: MessageMaking) -> None:
    sink = SINK.replace("{{ job.name }}", "{{ job.id }}")
    async with receiving() as receiver, driving(live.dsns, make=making.make):
        batch = await scene(live, receiver.url, sink)
        found = await until(live, batch, "done")
        (got,) = receiver.received

    assert found[-4:] == ["processed", "start_publication", "published", "done"]
    assert live.document(got) == {"product": f"b{batch}.j1"}


async def test_message_is_sent_with_secrets_of_the_owner_of_its_sink(
    live: Live, making: MessageMaking
) -> None:
    """One that is not there is named, and the message waits; no value stands where it is shown."""
    keys, world, said = SecretKeys([bytes(32)]), live.world, 'can@ry/"6f'
    caller, sink = world.caller, SINK.replace("tries = 3", "tries = 999")
    sink += 'headers = { X-Key = "${secret.key}" }\n'
    async with receiving() as receiver, driving(live.dsns, make=making.make, keys=lambda: keys):
        url = f"http://ann:${{secret.key}}@{receiver.url.partition('://')[2]}?x=${{secret.key}}"
        batch = await scene(live, url, sink)
        while not (told := await messages(live))[0]["last_error"]:
            pass
        row = SecretRow(caller.tenant_id, caller.user_id, "key")
        await world.api.set_secret(caller, "key", keys.seal(said, row), secrets_max=9)
        await until(live, batch, "done")
        (got,) = receiver.received

    assert got.target.endswith("?x=can%40ry%2F%226f")
    assert base64.b64decode(got.headers["authorization"].split()[1]).decode() == f"ann:{said}"
    assert got.headers["x-key"] == said
    assert told[0]["last_error"] == "its owner has no secret key"
    history = await world.api.job_history(caller, batch, 1)
    assert "can" not in str([*await messages(live), *history]).replace("cannot", "")


async def messages(live: Live) -> list[Any]:
    return [*await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)]


async def test_message_that_is_not_taken_walks_the_path(live: Live, making: MessageMaking) -> None:
    async with receiving(answering(503), answering(200)) as receiver:
        async with driving(live.dsns, make=making.make):
            batch = await scene(live, receiver.url)
            found = await until(live, batch, "done")

        assert found[-8:] == [
            "processed",
            "start_publication",
            "external_error",
            "error_checked",
            "processed",
            "start_publication",
            "published",
            "done",
        ]
        assert len({got.headers["weft-delivery"] for got in receiver.received}) == 1


async def test_driver_that_ends_before_it_records_sends_the_same_again(
    live: Live, making: MessageMaking
) -> None:
    """Its receiver has the message, and the driver has not heard the answer."""
    async with receiving(hang, answering(200)) as receiver:
        async with driving(live.dsns, make=making.make):
            batch = await scene(live, receiver.url)
            await receiver.until(1)
        async with driving(live.dsns, make=making.make):
            found = await until(live, batch, "done")

        one, two = receiver.received
        assert one.headers["weft-delivery"] == two.headers["weft-delivery"]
        assert one.body == two.body
        assert found[-4:] == ["processed", "start_publication", "published", "done"]


async def test_template_that_fails_is_given_up_with_its_reason(
    live: Live, making: MessageMaking
) -> None:
    sink = SINK.replace("{{ job.name }}", "{{ job.gone }}").replace("tries = 3", "tries = 1")
    async with receiving() as receiver, driving(live.dsns, make=making.make):
        batch = await scene(live, receiver.url, sink)
        await until(live, batch, "internal_error")
        (shown,) = await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)

    assert receiver.received == []
    assert "has no attribute 'gone'" in shown["last_error"]


async def test_message_that_is_rejected_is_not_sent_again(
    live: Live, making: MessageMaking
) -> None:
    """429 asks for another try, 422 is final."""
    sink = SINK + "rejected.path = ['external_error', 'error_checked', 'done']\n"
    async with receiving(answering(429), answering(422)) as receiver:
        async with driving(live.dsns, make=making.make):
            batch = await scene(live, receiver.url, sink)
            found = await until(live, batch, "done")
        assert len(receiver.received) == 2

    assert found[-8:] == [
        "start_publication",
        "external_error",
        "error_checked",
        "processed",
        "start_publication",
        "external_error",
        "error_checked",
        "done",
    ]


COMMAND_SINK = """
[sink.wekeo]
kind = "command"
command = ["announce", "--to"]
message = '{"product": "{{ job.id }}"}'
rejected.path = ["external_error", "error_checked", "done"]
"""

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return what gives a message to a program of this text."""
    program = tmp_path / "announce"

    async def one(text: str, body: bytes = b"{}", *, timeout_s: float = 20.0) -> Answered:
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o700)
        commands = SinkCommands({"announce": str(program)})
        sink = {"command": ["announce", "to whom"], "timeout_s": timeout_s}
        return await commands.send(sink, SinkMessage(1, "t", "a name", body, {}))

    return one


async def test_program_gets_message_arguments_and_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_SECRET", "x")
    text = f'(echo "$1"; cat; echo; env) > {tmp_path}/got'
    assert await run(text, b'{"a": 1}') == Answered(status=0, delivered=True)
    got = (tmp_path / "got").read_text().splitlines()
    assert got[:2] == ["to whom", '{"a": 1}']
    assert "WEFT_DELIVERY=a name" in got
    assert not [one for one in got if one.startswith("WEFT_SECRET")]


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("echo first >&2; echo no such collection >&2; exit 65", 65, "no such collection"),
        ("exit 3", 3, None),
        ("kill -9 $$", None, "it was killed by SIGKILL"),
        ("yes x | head -c 3000000 >&2; exit 1", 1, "x"),
    ],
)
async def test_exit_code_decides(
    run: Run, text: str, status: int | None, said: str | None
) -> None:
    """It need not read what it is given."""
    answered = await run(text, b"x" * 1_000_000)
    assert (answered.status, answered.error) == (status, said)
    assert not answered.delivered


async def test_program_that_hangs_is_killed_with_what_it_started(run: Run, tmp_path: Path) -> None:
    text = f"sleep 1000 & echo $! > {tmp_path}/child; wait"
    assert (await run(text, timeout_s=1)).error == "it did not end within 1 s"
    until_gone(int((tmp_path / "child").read_text()))


async def test_number_of_a_program_that_has_ended_is_left_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be that of somebody else's group by then."""
    killed: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: killed.append(group))
    assert (await run("exit 0")).delivered
    assert killed == []


async def test_program_that_is_not_named_does_not_run() -> None:
    sink = {"command": ["announce"], "timeout_s": 1}
    message = SinkMessage(1, "t", "a", b"", {})
    assert "sink_commands" in str((await SinkCommands({}).send(sink, message)).error)
    found = await SinkCommands({"announce": "/nowhere"}).send(sink, message)
    assert "No such file" in str(found.error)


def test_codes_of_programs_and_statuses_reject_alike() -> None:
    http = {"kind": "http", "rejected": [[400, 499]]}
    assert [code for code in (200, 404, 408, 422, 425, 429, 500) if is_rejected(http, code)] == [
        404,
        422,
    ]
    assert is_rejected({"rejected": [[400, 499]], "kind": "command"}, 408)
    assert not is_rejected(http, None)
    assert not is_rejected({"kind": "s3"}, 404)


@pytest.mark.parametrize(("code", "status"), [(0, "done"), (65, "done")])
async def test_job_is_told_to_a_program(
    live: Live, making: MessageMaking, tmp_path: Path, code: int, status: str
) -> None:
    program, got = tmp_path / "announce", tmp_path / "got"
    program.write_text(f"#!/bin/sh\ncat > {got}.$$; mv {got}.$$ {got}; exit {code}\n")
    program.chmod(0o700)
    commands = LineSinks(site(), {"announce": os.fspath(program)})
    text = HRSI + COMMAND_SINK
    async with driving(live.dsns, make=making.make, sinks=commands):
        await live.world.api.save_setup(live.world.caller, "hrsi", text, parse_setup(text))
        batch = await live.world.submit(job_rows(1), lifecycle="hrsi", sink="wekeo")
        await (await live.world.worker()).run()
        found = await until(live, batch, status)
    assert json.loads(got.read_text()) == {"product": f"b{batch}.j1"}
    assert found[-3:] == (
        ["external_error", "error_checked", "done"]
        if code
        else ["start_publication", "published", "done"]
    )


CHECKED_SINK = """
[sink.wekeo]
kind = "command"
command = "announce"
products = true
checks = { valid = ["valid", "--strict"] }
"""
GOOD: Mapping[str, Any] = {"id": 1, "checks": ["valid"]}
BAD: Mapping[str, Any] = {"id": 2, "checks": ["valid"], "bad": True}


@pytest.fixture
async def told(live: Live, making: MessageMaking, tmp_path: Path) -> AsyncIterator[Path]:
    """Give the directory of what was announced, beside a driver that checks."""
    got = tmp_path / "got"
    got.mkdir()
    programs = {
        "announce": f'cat > "$(mktemp {got}/XXXXXX)"',
        "valid": '[ "$1" = --strict ]; if grep -q \'"bad": *true\'; then echo no CRS >&2; '
        "exit 3; fi",
    }
    for program, text in programs.items():
        (tmp_path / program).write_text(f"#!/bin/sh\nset -e\n{text}\n")
        (tmp_path / program).chmod(0o700)
    named = {one: os.fspath(tmp_path / one) for one in programs}
    async with driving(live.dsns, make=making.make, sinks=LineSinks(site(), named)):
        yield got


async def made(live: Live, *products: Mapping[str, Any]) -> int:
    """Run a job that names these products."""
    text = HRSI + CHECKED_SINK
    await live.world.api.save_setup(live.world.caller, "hrsi", text, parse_setup(text))
    batch = await live.world.submit(job_rows(1), lifecycle="hrsi", sink="wekeo")
    worker = await live.world.worker()
    (one,) = await worker.claim()
    await name(worker, one, *map(dict, products))
    await worker.start(one)
    await worker.end(one)
    return batch


async def held(live: Live) -> int:
    """Wait for a message that is held; return its number."""
    while True:
        rows = await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)
        by_state = {one["state"]: one for one in rows}
        if "pending" not in by_state:
            found = by_state["held"]
            assert found["last_error"] == "check valid: no CRS"
            return int(found["delivery_id"])


def announced(told: Path) -> list[int]:
    return sorted(json.loads(one.read_text())["id"] for one in told.iterdir())


@pytest.mark.parametrize(("dropped", "sent"), [(False, [1, 2]), (True, [1])])
async def test_check_that_fails_waits_for_a_person(
    live: Live, told: Path, *, dropped: bool, sent: list[int]
) -> None:
    batch = await made(live, GOOD, BAD)
    number = await held(live)
    assert announced(told) == [1]
    assert (await until(live, batch, "start_publication"))[-1] == "start_publication"
    api, caller = live.world.api, live.world.caller
    found = await api.get_product(caller, 2)
    assert found is not None
    assert found["check"] == {
        "state": "held",
        "sink": "wekeo",
        "delivery_id": number,
        "error": "check valid: no CRS",
    }
    await api.decide_message(caller, "wekeo", number, dropped=dropped)
    assert (await until(live, batch, "done"))[-3:] == ["start_publication", "published", "done"]
    assert announced(told) == sent
    await api.decide_message(caller, "wekeo", number, dropped=dropped)  # the reply was lost
    with pytest.raises(MessageNotHeld):
        await api.decide_message(caller, "wekeo", number, dropped=not dropped)


async def test_check_that_its_sink_does_not_have_is_one_that_fails(live: Live, told: Path) -> None:
    await made(live, {"id": 1, "checks": ["other"]})
    await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)
    while True:
        (one,) = await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)
        if one["state"] != "pending":
            break
    assert (one["state"], one["last_error"]) == ("held", "its sink has no check other")
    assert announced(told) == []
