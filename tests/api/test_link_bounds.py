"""Whatever a worker outside says: each number, text and list of a frame has a bound, and what is
within the bounds harms nobody who reads it, and no fold.
"""

# ruff: noqa: F811 (`outside` is a fixture)

import re
from collections.abc import Iterator
from itertools import count, islice
from typing import Any, Final

import asyncpg
import msgspec
import pytest
from msgspec import inspect

from api.live import fold
from api.test_worker_link import Outside, facts, outside  # noqa: F401 (a fixture)
from weft.core.bounds import COUNT_MAX, ENTRIES_MAX
from weft.core.states import JobState, Phase, PhaseNumber, Reason, ReasonNumber, word_of
from weft.ports.worker_link import FRAME_VERSION, Frame, LinkFacts, call_forms
from weft_link.serving.calls import CALLS

LONG: Final = "x" * (10 << 20)
LONG_BYTES: Final = LONG.encode()
NUMBERS: Final = (0, -1, 2**31, 2**63, 2**64 - 1, 2.0**64, float("nan"))
FIRST: Final = ("complete_attempts", "complete_and_claim")
LAST: Final = ("finish_drain", "leave")
_STRUCTS = inspect.StructType | inspect.DataclassType | inspect.NamedTupleType
_LISTS = inspect.ListType | inspect.VarTupleType
_TEXTS = inspect.StrType | inspect.BytesType
_BOUNDED = (
    inspect.BoolType,
    inspect.NoneType,
    inspect.LiteralType,
    inspect.EnumType,
    inspect.RawType,
)


def parts_of(kind: inspect.Type, at: str) -> Iterator[tuple[str, inspect.Type]]:
    """Yield this type and all within it, each with where it is."""
    yield at, kind
    if isinstance(kind, _LISTS):
        yield from parts_of(kind.item_type, f"{at}[]")
    elif isinstance(kind, inspect.DictType):
        yield from parts_of(kind.key_type, f"{at}.key")
        yield from parts_of(kind.value_type, f"{at}.value")
    elif isinstance(kind, inspect.TupleType):
        for n, part in enumerate(kind.item_types):
            yield from parts_of(part, f"{at}[{n}]")
    elif isinstance(kind, inspect.UnionType):
        for part in kind.types:
            yield from parts_of(part, at)
    elif isinstance(kind, _STRUCTS):
        for field in kind.fields:
            yield from parts_of(field.type, f"{at}.{field.name}")


def is_bounded(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        return kind.ge is not None and kind.le is not None
    if isinstance(kind, _TEXTS | _LISTS | inspect.DictType):
        return kind.max_length is not None or getattr(kind, "pattern", None) is not None
    return isinstance(kind, (*_BOUNDED, inspect.TupleType, inspect.UnionType, _STRUCTS))


def test_all_that_a_worker_says_has_bounds() -> None:
    forms = {name: inspect.type_info(form.arguments) for name, form in call_forms().items()}
    forms |= {"frame": inspect.type_info(Frame), "facts": inspect.type_info(LinkFacts)}
    parts = [part for name, form in forms.items() for part in parts_of(form, name)]
    wrong = {at for at, kind in parts if not is_bounded(kind)}
    # JSON of jobs, which `read_products` judges as the worker does.
    assert {at.partition("[]")[0] for at in wrong} == {
        "record_products.products",
        "record_products.inputs",
    }
    assert len(parts) > 300


def test_each_call_has_one_rule() -> None:
    assert CALLS.keys() == call_forms().keys()


@pytest.mark.parametrize(("kind", "numbers"), [(Reason, ReasonNumber), (Phase, PhaseNumber)])
def test_numbers_of_reports_are_those_that_have_words(kind: Any, numbers: Any) -> None:  # noqa: ANN401
    for number in range(-1, 300):
        try:
            msgspec.convert(number, numbers)
        except msgspec.ValidationError:
            assert number not in set(kind)
        else:
            assert number in set(kind)


def test_numbers_that_nobody_knows_have_a_text() -> None:
    for kind in (JobState, Phase, Reason):
        assert [word_of(kind, one) for one in kind] == [one.word for one in kind]
        assert word_of(kind, 99) == "unknown (99)"


class Liar:
    """A worker outside, and values for what it says."""

    def __init__(self, site: Outside, token: str) -> None:
        self.site, self.token = site, token
        self.incarnation, self.live = 0, list[Any]()
        self.names = count()

    async def send(self, name: str, given: Any) -> Any:  # noqa: ANN401 (any frame)
        frame = [FRAME_VERSION, self.incarnation, name, given, None]
        return await self.site.send(self.token, frame)

    async def begin(self) -> None:
        """Register anew, and take all jobs that there are."""
        self.incarnation, name = 0, f"node{next(self.names)}"
        more = facts(name=name, incarnation=name, cpu_m=10**8, memory_mib=10**9)
        answer = await self.send("register_worker", more)
        assert answer.status_code == 200, answer.text
        self.incarnation = msgspec.msgpack.decode(answer.content)["incarnation_id"]
        request = {"budget_cpu_m": 10**8, "budget_memory_mib": 10**9, "limit_jobs": 1000}
        asked = {"incarnation_id": self.incarnation, "request": request}
        answer = await self.send("claim_jobs", asked)
        self.live = msgspec.msgpack.decode(answer.content) or self.live

    def plain(self, kind: inspect.Type, name: str = "") -> Any:  # noqa: ANN401 (of the type)
        """Return a value of this type, about a live attempt."""
        job = self.live[-1]
        key = [job["batch_id"], job["job_id"], job["attempt"]]
        known = dict(zip(("batch_id", "job_id", "attempt"), key, strict=True))
        known |= {"incarnation_id": self.incarnation, "pool": "default", "name": "node1"}
        if name in known:
            return known[name]
        match kind:
            case inspect.UnionType():
                return self.plain(next(x for x in kind.types if type(x) is not inspect.NoneType))
            case inspect.TupleType():
                plain = [self.plain(x) for x in kind.item_types]
                return [*key[: len(plain)]] if plain == [1] * len(plain) else plain
            case inspect.ListType() | inspect.VarTupleType():
                return [self.plain(kind.item_type)]
            case inspect.DictType():
                return {self.plain(kind.key_type): self.plain(kind.value_type)}
            case inspect.StructType() | inspect.DataclassType() | inspect.NamedTupleType():
                fields = {x.encode_name: self.plain(x.type, x.name) for x in kind.fields}
                return list(fields.values()) if is_array(kind) else fields
            case inspect.LiteralType():
                return kind.values[0]
            case inspect.BytesType():
                return bytes(kind.min_length or 1)
            case inspect.StrType():
                return "x"
            case inspect.BoolType():
                return False
        return 1


def is_array(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.NamedTupleType) or getattr(kind, "array_like", False)


def changed(kind: inspect.Type, value: Any) -> Iterator[Any]:  # noqa: ANN401 (of the type)
    """Yield this value with each part of it, one at a time, as no honest worker sends it, and as
    far as its bounds go.
    """
    match kind:
        case inspect.UnionType():
            for part in kind.types:
                if type(part) is not inspect.NoneType:
                    yield from changed(part, value)
        case inspect.TupleType():
            for n, part in enumerate(kind.item_types):
                yield from ([*value[:n], x, *value[n + 1 :]] for x in changed(part, value[n]))
        case inspect.ListType() | inspect.VarTupleType() if isinstance(value, list):
            yield [*value] * (ENTRIES_MAX + 1)
            yield from ([x] for x in changed(kind.item_type, value[0]))
        case inspect.DictType():
            ((key, item),) = value.items()
            yield from ({x: item} for x in changed(kind.key_type, key))
            yield from ({key: x} for x in changed(kind.value_type, item))
        case inspect.StructType() | inspect.DataclassType() | inspect.NamedTupleType():
            for n, field in enumerate(kind.fields):
                old = value[n] if is_array(kind) else value[field.encode_name]
                for new in changed(field.type, old):
                    yield (
                        [*value[:n], new, *value[n + 1 :]]
                        if is_array(kind)
                        else {**value, field.encode_name: new}
                    )
        case inspect.StrType():
            yield from ("a\0b", "x" * (kind.max_length or 1), LONG, 2**63)
        case inspect.BytesType():
            yield from (b"", b"\xff" * (kind.max_length or 1), LONG_BYTES)
        case inspect.IntType() | inspect.FloatType():
            yield from (*NUMBERS, kind.ge, kind.le, "a\0b")
        case inspect.LiteralType():
            yield from ("a\0b", 2**63)
        case inspect.AnyType():
            yield from (*NUMBERS, "a\0b", LONG)


async def lie(liar: Liar, name: str) -> int:
    """Send a call in all ways; return how many were taken. None is an error of the server."""
    kind, n_taken = inspect.type_info(call_forms()[name].arguments), 0
    assert isinstance(kind, inspect.StructType)
    ways = changed(kind, liar.plain(kind))
    for n in count():
        if (way := next(ways, None)) is None:
            break
        answer = await liar.send(name, way)
        assert answer.status_code < 500, (name, n, str(way)[:200], answer.text[:500])
        n_taken += answer.status_code == 200
        if answer.status_code == 200 and name in FIRST and len(liar.live) > 1:
            liar.live.pop()
        elif answer.status_code == 200 and name in LAST:
            await liar.begin()
        else:
            continue
        ways = islice(changed(kind, liar.plain(kind)), n + 1, None)  # of an attempt that lives
    return n_taken


async def read_all(site: Outside, jobs: list[tuple[int, int]]) -> None:
    """Read whatever can be read."""
    known = {"batch": jobs[0][0], "job": jobs[0][1], "worker": "node0", "name": "node0"}
    paths = set()
    for route in site.api.app.router.routes:
        for path in route.path_formats if route.method == "GET" else ():
            filled = path
            for part in re.findall(r"{(\w+)}", path):
                value = next((known[x] for x in known if part.startswith(x)), 1)
                filled = filled.replace(f"{{{part}}}", str(value))
            paths.add(filled)
    for batch, job in jobs:
        base = f"/batches/b{batch}/jobs/{job}"
        paths |= {f"/v1{base}", f"/v1{base}/attempts", f"/v1{base}/log", f"/ui{base}"}
    for path in sorted(paths):
        async with site.http.stream("GET", path, headers={"accept": "*/*"}) as answer:
            if "event-stream" not in answer.headers.get("content-type", ""):
                text = (await answer.aread()).decode(errors="replace")
                assert answer.status_code < 500, (path, text[:500])


@pytest.mark.heavy
async def test_whatever_a_worker_says_nobody_else_minds(
    outside: Outside, database: dict[str, str], admin: asyncpg.Connection
) -> None:
    batch = await outside.submit(400, resources={"cpu": 0.1})
    liar = Liar(outside, (await outside.token()).read_text())
    await liar.begin()
    names = [name for name in CALLS if name not in FIRST + LAST]
    n_jobs = len(liar.live)
    taken = {name: await lie(liar, name) for name in (*FIRST, *names, *LAST)}
    n_ended = n_jobs - len(liar.live)

    assert n_jobs == 400, "all were claimed"
    assert min(taken[name] for name in (*FIRST, "record_phases", "heartbeat")) > 5, taken
    await fold(database["weft_driver"])
    ends = await admin.fetch(
        "SELECT max(stdout_bytes) AS most, array_agg(DISTINCT job_id) AS jobs "
        "FROM weft.attempt WHERE batch_id = $1",
        batch,
    )
    assert ends[0]["most"] == COUNT_MAX, "the largest number was taken"
    jobs = [(batch, job) for job in ends[0]["jobs"]][: max(n_ended, 1)]
    await read_all(outside, jobs)
    # As another release, or a worker with a login, may have written it.
    await admin.execute("UPDATE weft.attempt SET reason = 99, signal = 999, state = 7")
    await admin.execute("UPDATE weft.failure_cause SET reason = 99")
    await admin.execute("UPDATE weft.failure_delta SET reason = 99")
    await admin.execute("UPDATE weft.job SET phase = 77 WHERE phase IS NOT NULL")
    await read_all(outside, jobs[:2])
    shown = (await outside.http.get(f"/v1/batches/{batch}/failures")).text
    assert "unknown (99)" in shown
