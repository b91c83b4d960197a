"""Messages of sinks: made in a process of its own, sent by a real driver to a real receiver."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from builders import job_rows
from callbacks.receiver import answering, hang, receiving
from callbacks.test_live import DEADLINE_S, Live, driving, live
from store.test_lifecycles import HRSI, both, statuses
from store.test_sinks import SINK
from weft.extensions.lines.rules.setup import parse_setup
from weft.extensions.lines.rules.sink import PRODUCT
from weft.ports.sink import Misfit
from weft.run.isolated.asking.messages import MessageMaking
from weft.wire.sealed import SecretKeys, SecretRow

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
)  # fmt: skip
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
            "processed", "start_publication", "external_error", "error_checked", "processed",
            "start_publication", "published", "done",
        ]  # fmt: skip
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
        "start_publication", "external_error", "error_checked", "processed",
        "start_publication", "external_error", "error_checked", "done",
    ]  # fmt: skip
