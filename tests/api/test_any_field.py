"""Whatever any field of any request holds, the answer is no mistake of the server's, and others
are served meanwhile.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import pytest
from httpx import AsyncClient

from api.field_walk import Evaluated, fields_of, parameters_of, reads_of
from api.live import Commands, LiveApi
from benches.hostile import HOSTILE, SCHEMAS, Field, Request, fields_of_documents, fields_of_lines
from cli.anything import COMMANDS
from weft.core.errors import TooLarge
from weft.core.problems import pointers_of
from weft.core.text.escapes import STEERING

HELD: Final = "@held@"
NUMBERS: Final = (
    "0",
    "2147483648",
    "9223372036854775808",
    "-1",
    "18446744073709551616",
    "1e400",
    "NaN",
)
TIMES: Final = (
    "2030-01-01T00:00:00+23:59",
    "2030-01-01T00:00:00-23:59",
    "2030-01-01T00:00:00+16:00",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "9000-12-31T23:59:59-23:59",
    "1970-01-01T00:00:00+23:59",
)
HALF: Final = "half a character"
TEXTS: Final[Mapping[str, str]] = {
    "NUL": r"walk\u0000ed",
    HALF: r"walk\ud800ed",
    "direction": r"walk\u202eed",
    "escape": r"walk\u001b[2Jed",
    "2 MiB": "walk" * (1 << 19),
}
"""Texts as JSON writes them."""
SHORT: Final = [*TEXTS][:4]
HUGE: Final = {"10 MB": "walk" * 2_500_000}
"""It is tried in one field of each route."""
ANSWER_BYTES: Final = 64 << 10
"""No error is longer."""
DATA: Final = ("deep", "bare pattern", "template")
"""What is tried where nothing is evaluated."""
LATE_S: Final = 1.0
"""Any other answer takes this long at most; what is hostile takes many seconds where it runs."""
MISTAKES: Final = {*range(500, 600)} - {507}  # a full disk is the machine's

SETTINGS = {"source_paths": "/", "evaluation_all_s": 1.0}


async def send(http: AsyncClient, one: Request) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return await http.request(one.method, one.path, content=one.body, headers=headers)


async def mistakes(http: AsyncClient, asked: Mapping[str, Request]) -> Sequence[str]:
    """Ask each once; return the answers that are mistakes of the server's."""
    wrong, room = list[str](), asyncio.Semaphore(8)

    async def ask(name: str, one: Request) -> None:
        async with room:
            answer = await send(http, one)
        if answer.status_code in MISTAKES:
            wrong.append(f"{name}: {one.path[:99]} {one.body[:99]!r}: {answer.text}")

    assert len(asked) > 300
    await asyncio.gather(*(ask(name, one) for name, one in asked.items()))
    return wrong


@asynccontextmanager
async def others_are_served(http: AsyncClient) -> AsyncIterator[None]:
    """Prove that each other request is answered soon meanwhile."""
    took = list[float]()

    async def read() -> None:
        while True:
            before = time.monotonic()
            assert (await http.get("/v1/whoami")).status_code == 200
            took.append(time.monotonic() - before)

    task = asyncio.create_task(read())
    yield
    assert not task.done()
    task.cancel()
    assert max(took) < LATE_S


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_numbers_beyond_any_column(api: LiveApi, http: AsyncClient) -> None:
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    fields = fields_of_documents(api.app, int)
    asked = {f"{o.name}: {n}": o.with_json(n) for o in fields for n in NUMBERS}

    assert await mistakes(http, asked) == []


async def test_what_is_marked_and_nothing_else_is_evaluated(
    api: LiveApi, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field whose text reaches the processes for evaluation is marked in its type, and each that
    is marked gets there. Where that is a schema, the mark is one of the whole field.
    """
    seen, found, each = list[str](), set[str](), api.evaluation.each

    async def noted(tenant_id: int, function: Callable[..., Any], common: Any, items: Any) -> Any:  # noqa: ANN401
        seen.append(repr((common, items)))
        return await each(tenant_id, function, common, items)

    monkeypatch.setattr(api.evaluation, "each", noted)
    for one in fields_of_documents(api.app):
        seen.clear()
        await send(http, one.holding(HELD))
        if HELD in str(seen):
            found.add(re.sub("/form/.*", "/form", one.name))

    assert found == {one.name for one in fields_of_documents(api.app, Evaluated)}
    assert len(found) >= 3


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_nothing_that_is_costly_holds_up_others(api: LiveApi, http: AsyncClient) -> None:
    """What is evaluated ends within its budget, and the rest is data: each is answered in time."""
    marked, any_ = [*fields_of_documents(api.app, Evaluated)], fields_of_documents(api.app)
    asked = {f"{one.name}: {name}": one.holding(HOSTILE[name]) for one in any_ for name in DATA}
    for one in [*marked, *fields_of_lines()]:
        asked |= {f"{one.name}: {name}": one.holding(text) for name, text in HOSTILE.items()}
    for one in marked:
        asked |= {f"{one.name}: {n}": one.with_json(json.dumps(s)) for n, s in SCHEMAS.items()}

    async with others_are_served(http):
        assert await mistakes(http, asked) == []


def api_open(one: Field) -> bool:
    """Say whether strangers send it, who may send little."""
    return one.request.path.startswith(("/v1/logins", "/v1/device-logins"))


async def is_told(http: AsyncClient, answer: httpx.Response, one: Field, text: str) -> bool:
    """Say whether an error names the field, or is not about its text."""
    if answer.is_success or answer.status_code in MISTAKES or len(answer.content) > ANSWER_BYTES:
        return False
    where, told = one.pointer(json.loads(f'"{text}"')), answer.json()
    pointers = [error["pointer"] for error in told["errors"]]
    if answer.status_code in {404, 409} or any(at and where.startswith(at) for at in pointers):
        return True
    if told["code"] == TooLarge.code and api_open(one):
        return True
    usual = await send(http, one.holding("usual"))
    return bool(usual.is_error and usual.json()["code"] == told["code"])


def steers(answer: httpx.Response) -> bool:
    """Say whether a page steers whoever looks at it; its forms hold what was asked."""
    shown = re.sub(' value="[^"]*"', "", answer.text)
    is_page = answer.headers.get("content-type", "").startswith("text/html")
    return is_page and re.search(STEERING, shown) is not None


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_texts_are_refused_by_name_or_kept_as_they_are(
    api: LiveApi, http: AsyncClient, command: Commands
) -> None:
    """Whatever field they stand in; and no page and no command shows them unescaped. Each has a
    limit, but where nothing is kept.
    """
    await http.post("/v1/batches", json={"jobs": [{}], "groups": [{"path": "/g"}]})
    wrong, made, room = list[str](), list[str](), asyncio.Semaphore(4)
    fields = [*fields_of_documents(api.app)]
    first_of = {(one.request.method, one.request.path): one for one in reversed(fields)}

    async def ask(one: Field) -> None:
        is_first = first_of[one.request.method, one.request.path] == one
        for name, text in {**TEXTS, **(HUGE if is_first else {})}.items():
            async with room:
                answer = await send(http, one.with_json(f'"{text}"'))
            if answer.is_success and one.request.path == "/v1/batches":
                made.append(f"/batches/{answer.json()['id']}")
            may_be_kept = name in SHORT or one.request.path.endswith("/trial")
            if not ((answer.is_success and may_be_kept) or await is_told(http, answer, one, text)):
                wrong.append(f"{one.name}: {name}: {answer.text[:999]}")

    await asyncio.gather(*map(ask, fields))
    texts = [json.loads(f'"{TEXTS[name]}"') for name in SHORT if name != HALF]
    roots = [f"{root}{at}" for at in made for root in ("/v1", "/ui")]
    for path in [*reads_of(api.app), *roots, *(f"{root}/jobs/1" for root in roots)]:
        answer = await http.get(path)
        is_json = answer.headers["content-type"].partition(";")[0].endswith("/json")
        body = answer.json() if is_json else None
        changed = [*pointers_of(body, lambda t: "walk" in t and not any(x in t for x in texts))]
        if changed or steers(answer):
            wrong.append(f"{path}: {changed} {answer.text[:999]}")

    lists = [words for words in COMMANDS if words[-1] == "ls"]
    of_batches = ((word, f"b{at[9:]}") for at in made[::10] for word in ("status", "jobs"))
    for words in (*lists, *of_batches):
        _, out, err = await command(*words)
        if re.search(STEERING, out + err):
            wrong.append(f"{words}: {out} {err}")

    assert (wrong, len(made) > 50) == ([], True)


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_anything_in_paths_and_queries(api: LiveApi, http: AsyncClient) -> None:
    """What is no text is refused, and the page that says so steers nobody."""
    await http.post("/v1/batches", json={"jobs": [{}]})
    for value in (*NUMBERS[:4], "a\0", "\udced\udca0\udc80", "\u202e", "\x1b[2J", "x" * 9999):
        is_text = value.isprintable() or value in {"\u202e", "\x1b[2J"}
        for one in parameters_of(api.app, value):
            answer = await send(http, Request.of(one.method, one.path, one.document))

            is_refused = answer.status_code in {400, 401}
            is_fine = is_text and answer.status_code not in MISTAKES
            assert is_fine or is_refused, (one, answer.text)
            assert not steers(answer), (one, answer.text)


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_times_with_any_offset_and_of_any_year(api: LiveApi, http: AsyncClient) -> None:
    """RFC 3339 allows more offsets than PostgreSQL reads, and years that no offset leaves."""
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    walked = set[str]()
    for moment in TIMES:
        for one in (
            *fields_of(api.app, (datetime,), moment),
            *parameters_of(api.app, moment),
        ):
            answer = await send(http, Request.of(one.method, one.path, one.document))
            walked.add(one.where)
            assert answer.status_code not in MISTAKES, (one, answer.text)
        query = urlencode({"q": f"start_time > {moment}"})
        for path in ("/v1/batches", "/v1/batches/1/jobs"):
            assert (await http.get(f"{path}?{query}")).status_code not in MISTAKES
    assert {"jobs/0/not_before", "jobs/0/deadline", "jobs/0/wait/until"} <= walked
