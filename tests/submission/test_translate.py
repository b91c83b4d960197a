"""Documents of jobs as columns; those whose jobs stand before their parents are put into order,
with all that jobs say.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
import pytest

from cases import cases
from weft.api.http.decoding import JSON, MSGPACK, decode
from weft.core.bounded import open_fields, read_msgpack
from weft.core.errors import InvalidDocument, WrongType
from weft.core.problems import Problems
from weft.core.states import Reason
from weft.core.why import Cause
from weft.ports.store import Gate, JobRows, Row, Shape
from weft.settings import Settings
from weft.submission.translation import fields, gates
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.fields import are_ordinary
from weft.submission.translation.jobs import Translated, translate
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.jobs import ConcurrencyKey, JobDocument
from weft.wire.documents.updates import JobBunch
from weft.wire.spec import CHUNK_BYTES_MAX, CHUNK_JOBS_MAX, decode_chunk
from weft.wire.usual_jobs import USUAL_FIELDS, USUAL_KINDS, UsualJob

SMALL: Row = {
    "cpu_m": 500,
    "memory_mib": 256,
    "offers": {"storage_mib": 100, "gpu": 0, "executor": "process"},
}


def rows_of(
    jobs: list[dict[str, Any]],
    workers: list[Row] | None = None,
    inherit_env: dict[str, str] | None = None,
    first: int = 1,
) -> JobRows:
    body = msgspec.json.encode({"first": first, "jobs": jobs, "inherit_env": inherit_env})
    document = decode(body, JSON, JobBunch)
    context = DocumentContext(
        settings=Settings(),
        trace_id="a" * 32,
        ordinary=are_ordinary(document.jobs),
        inherit_env=document.inherit_env,
        first=first,
    )
    rows = translate(document.jobs, context, workers or [], Problems()).rows
    context = replace(context, ordinary=False)
    try:
        whole = translate(document.jobs, context, workers or [], Problems()).rows
        assert _read(rows) == _read(whole)
    except InvalidDocument as error:
        pytest.fail(f"found by looking at every job only: {error.errors}")
    return rows


def _read(rows: JobRows) -> dict[str, Any]:
    chunks = [read_msgpack(zlib.decompress(body)) for body in rows.chunk_body]
    return {**vars(rows), "chunk_body": chunks}


@cases("field", JobDocument.__struct_fields__)
def test_a_field_that_few_jobs_have_makes_a_document_not_ordinary(field: str) -> None:
    given: Any = object()  # of whatever type: only that it is there counts
    is_usual = field in USUAL_FIELDS - {"retry_on"}

    assert are_ordinary([JobDocument(), JobDocument(**{field: given})]) is is_usual


def test_types_of_usual_documents_bound_their_depth() -> None:
    assert not any(map(open_fields, USUAL_KINDS.values()))


@cases(
    ("words", "is_ordinary"),
    [(["lost"], True), (["oom", "exit"], True), ([], True), (["exit:3"], False), (["odd"], False)],
)
def test_reasons_for_retries_that_all_jobs_share_are_ordinary(
    words: list[str], *, is_ordinary: bool
) -> None:
    same = [JobDocument(retry_on=tuple(words)) for _ in range(3)]

    assert are_ordinary(same) is is_ordinary
    assert not are_ordinary([*same, JobDocument()])


def test_reasons_for_retries_that_all_jobs_share_are_one_number() -> None:
    rows = rows_of([{"command": ["true"], "retry_on": ["lost"]}] * 3)

    assert rows.retry_on == [1 << Reason.LOST]
    assert rows.retry_on != rows_of([{"command": ["true"]}]).retry_on


def test_scripts_of_windows_run() -> None:
    mark, windows = "\ufeff", "#!/bin/sh\r\necho hi\r\n"
    unix = "#!/bin/sh\necho hi\n"
    kept = [unix, "cat <<.\na\r\n.\n", "echo"]
    given = [mark + windows, windows, mark + unix, *kept]

    rows = rows_of([{"script": one, "command": None} for one in given])

    specs = [spec.script for body in rows.chunk_body for spec in decode_chunk(body)]
    assert specs == [unix, unix, unix, *kept]


def test_what_is_wrong_with_one_of_many_texts_is_found() -> None:
    plain = {"command": ["true"], "name": "fine", "attributes": {"k": "v"}}
    wrong = {
        "name": {**plain, "name": "\n"},
        "empty name": {**plain, "name": ""},
        "long name": {**plain, "name": "x" * 1000},
        "key": {**plain, "attributes": {"\n": "v"}},
        "empty key": {**plain, "attributes": {"": "v"}},
        "value": {**plain, "attributes": {"k": "\0"}},
        "long value": {**plain, "attributes": {"k": "v" * 2000}},
        "argument": {**plain, "command": ["true", "\0"]},
        "no program": {**plain, "command": [""]},
        "empty": {**plain, "command": []},
        "long": {**plain, "command": ["true", *(["\u20ac"] * 40_000)]},
        "many empty arguments": {**plain, "command": ["true", *([""] * 140_000)]},
    }

    for what, job in wrong.items():
        with pytest.raises(InvalidDocument) as failed:
            rows_of([plain, plain, job, plain])
        assert [one.pointer[:7] for one in failed.value.errors] == ["/jobs/2"], what


def test_what_is_the_same_in_all_jobs_is_said_once() -> None:
    rows = rows_of([{"command": ["true"]}] * 300)

    assert (rows.shape_index, rows.group_id, rows.priority) == ([0], [0], [0])
    assert (rows.always_run, rows.max_attempts, len(rows.retry_on)) == ([False], [1], 1)
    assert rows.shapes == [Shape()]
    assert (rows.label_job, rows.edge_child) == ([], [])


def test_what_differs_is_a_column() -> None:
    rows = rows_of(
        [
            {"priority": 5, "resources": {"cpu": 2}},
            {"always_run": True, "resources": {"cpu": "2"}, "retry_on": ["oom"]},
            {"resources": {"memory": "1Gi"}, "name": "c"},
            {"parents": [7, 43, 7], "group": -4, "attributes": {"k": "v"}},
        ],
        first=41,
    )

    assert rows.priority == [5, 0, 0, 0]
    assert rows.always_run == [False, True, False, False]
    assert rows.shapes == [Shape(cpu_m=2000), Shape(memory_mib=1024), Shape()]
    assert rows.shape_index == [0, 0, 1, 2]
    assert rows.group_id == [0, 0, 0, -4]
    assert (rows.first_job, rows.chunk_first) == (41, [41])
    assert (rows.edge_child, rows.edge_parent) == ([44, 44], [7, 43])
    assert rows.label_job == [43, 44]
    assert rows.label_name == ["c", None]
    assert rows.label_attributes == [None, {"k": "v"}]
    assert rows.retry_on[1] != rows.retry_on[0]


@pytest.mark.parametrize("media", [JSON, MSGPACK])
def test_resources_are_decoded_before_a_use_case_sees_them(media: str) -> None:
    """Once for all jobs that ask for the same."""
    asks: list[Any] = [{"resources": {"cpu": 2}}, {"resources": {"cpu": 2}}, {"resources": None}]
    encode = msgspec.json.encode if media == JSON else msgspec.msgpack.encode
    first, second, third = decode(encode({"jobs": asks}), media, BatchDocument).jobs

    assert first.resources == {"cpu": 2}
    assert first.resources is second.resources
    assert third.resources is None


def test_resources_that_cannot_be_decoded_are_all_named() -> None:
    body = b'{"jobs": [{"resources": {"cpu": 1e999}}, {}, {"resources": "\xff"}]}'
    with pytest.raises(WrongType) as refused:
        decode(body, JSON, BatchDocument)

    assert [(one.pointer, one.message) for one in refused.value.errors] == [
        ("/jobs/0/resources", "it cannot be decoded"),
        ("/jobs/2/resources", "it cannot be decoded"),
    ]


def test_defaults_shrink_to_the_largest_worker() -> None:
    rows = rows_of([{}, {"resources": {"storage": "50Mi"}}], workers=[SMALL])

    assert rows.shapes == [
        Shape(cpu_m=500, memory_mib=256),
        Shape(cpu_m=500, memory_mib=256, storage_mib=50),
    ]


def test_time_limits_are_asked_for_by_their_class() -> None:
    """Whether workers are known or not."""
    jobs = [{"timeout_s": one} if one else {} for one in (60, None, 59, 45, 60)]
    found = [rows_of(jobs, workers) for workers in ([], [SMALL])]

    for rows in found:
        words = [dict(one.words) for one in rows.shapes]
        assert words == [{"timeout_s": "60-60"}, {}, {"timeout_s": "30-60"}]
        assert rows.shape_index == [0, 1, 2, 2, 0]


def test_specs_are_kept_in_chunks_that_a_worker_can_read() -> None:
    many = rows_of([{"command": [str(n)]} for n in range(600)])
    large = rows_of([{"script": "x" * 100_000, "command": None}] * 5)

    assert many.chunk_n == [CHUNK_JOBS_MAX, CHUNK_JOBS_MAX, 600 - 2 * CHUNK_JOBS_MAX]
    assert many.chunk_first == [1, 257, 513]
    specs = [spec for body in many.chunk_body for spec in decode_chunk(body)]
    assert [spec.command for spec in specs] == [(str(n),) for n in range(600)]
    assert sum(large.chunk_n) == 5
    assert max(large.chunk_n) * 100_000 <= CHUNK_BYTES_MAX


def test_environment_of_the_caller_is_kept_once_for_all() -> None:
    environment = {f"NAME_{n}": "value" * 10 for n in range(50)}

    rows = rows_of([{"command": ["true"]}] * 256, inherit_env=environment)

    assert rows.chunk_n == [256]
    specs = decode_chunk(rows.chunk_body[0])
    assert specs[0].inherit_env == environment
    assert specs[0].inherit_env is specs[255].inherit_env
    assert len(rows.chunk_body[0]) < 4096


def test_rare_fields_and_the_gates_made_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another field stands in for such a one."""
    gate = {"kind": "directory", "key": "/b", "max_places": 1}
    kind = gates.GateKind(
        lambda value: Gate(kind="directory", key=value, max_places=1),
        lambda *_: Cause("directory", "its directory is busy"),
    )
    monkeypatch.setattr(fields, "FIELDS", (fields.kept("cwd"),))
    monkeypatch.setattr(gates, "JOB_GATES", {"cwd": kind})
    rows = rows_of([{}, {"cwd": "/a", "count": 3}, {"cwd": "/b"}], first=7)

    assert rows.rare_job == [8, 11]
    assert rows.rare_fields[1] == {"cwd": "/b", "gates": [gate]}
    assert json.dumps(rows.rare_fields)


class JobWithNewField(JobDocument):
    """A job with a rare field that nothing checks by its name."""

    new: Any = None


@cases(
    ("value", "pointer"),
    [
        ("a\0b", ""),
        ("x" * 257, ""),
        (datetime(9999, 12, 31, tzinfo=UTC), ""),
        (["a", datetime(1, 1, 1, tzinfo=UTC)], "/1"),
        ({"a\0b": 1}, "/a\0b"),
        ({"k": ["a\0b"]}, "/k/0"),
        (ConcurrencyKey("a\0b"), "/key"),
    ],
)
def test_values_of_rare_fields_are_checked_by_their_types(value: object, pointer: str) -> None:
    jobs = [JobWithNewField(new="good"), JobWithNewField(new=value)]
    problems = Problems()
    fields.check_fields([fields.kept("new")], jobs, Settings(), problems)

    assert [error.pointer for _, error in problems.found] == [f"/jobs/1/new{pointer}"]


def test_time_limits_of_one_class_grow_each_by_itself() -> None:
    """The database gets the limits, and the classes that lanes ask for."""
    rule = {"on": ["timeout"], "timeout": "x2", "up_to": "1h"}
    limits = (1000, 1200, 1000.0005)
    rows = rows_of([{"timeout_s": s, "max_attempts": 5, "retry_with": [rule]} for s in limits])
    rules = [fields["more"][0] for fields in rows.rare_fields]

    assert [one["limits_ms"] for one in rules] == [
        [1_000_000, 2_000_000, 3_600_000],
        [1_200_000, 2_400_000, 3_600_000],
        [1_000_000, 2_000_000, 3_600_000],
    ]
    assert rules[0]["values"] == ["900-1800", "1800-3600", "3600-3600"]
    assert {dict(shape.words)["timeout_s"] for shape in rows.shapes} == {*rules[0]["values"]}


@cases(
    ("logs", "keep_s"),
    [
        ([{"keep_s": 9}], 9),
        ([{"keep_s": 9}, {"keep_s": 99}], 99),
        ([{"keep_s": 9}, None], None),
        ([{"keep_s": 9}, {"max_bytes": 1}], None),
        ([None], None),
    ],
)
def test_longest_time_counts_if_all_jobs_say_how_long_output_is_kept(
    logs: list[dict[str, int] | None], keep_s: int | None
) -> None:
    jobs = [{"command": ["true"], **({} if log is None else {"log": log})} for log in logs]
    assert rows_of(jobs).output_keep_s == keep_s


LONG = "x" * (CHUNK_BYTES_MAX // 4)
SHARED: dict[str, Any] = {"command": ["true"], "max_attempts": 3}
MORE = [{"on": ["oom"], "memory": "x2", "up_to": "4Gi"}]
SORTED: list[dict[str, Any]] = [
    {**SHARED, "name": "a", "resources": {"cpu": 2}, "group": "/g", "priority": 3},
    {**SHARED, "name": "b", "count": 4, "groups": ["s"], "retry_on": ["oom"], "index_from": 7},
    {**SHARED, "name": "c", "resources": {"lic": 2}, "parents": ["b"], "always_run": True},
    {**SHARED, "name": "d", "retry_with": MORE, "parents": ["a", "c"], "network": False},
    {**SHARED, "name": "e", "values": [LONG] * 5, "parents": ["a"], "groups": ["s", "t"]},
    {"name": "f", "function": {"call": "m:f"}, "parents": ["e"], "group": "/h"},
]
"""Each of these jobs says something that no other says."""


def translated(jobs: Sequence[dict[str, Any]]) -> Translated:
    document = decode(msgspec.json.encode({"jobs": jobs}), JSON, BatchDocument)
    context = DocumentContext(
        settings=Settings(),
        trace_id="a" * 32,
        ordinary=are_ordinary(document.jobs),
        whole=True,
        group_by_path={"/g": 1, "/h": 2},
        set_by_name={"s": 3, "t": 4},
        licences={"lic": 2},
    )
    return translate(document.jobs, context, [], Problems())


def test_no_field_that_few_jobs_have_is_looked_at_for_each_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []

    def look(_job: object, name: str, value: object) -> object:
        looks.append(name)
        return value

    for name in {*JobDocument.__struct_fields__, "array_size"} - USUAL_FIELDS:
        looking = partial(look, name=name, value=getattr(UsualJob, name))
        monkeypatch.setattr(UsualJob, name, property(looking))

    translated([{**SHARED, "name": "a"}])
    of_one_job = [*looks]
    translated([{**SHARED, "name": "a"}] * 300)
    assert looks == of_one_job * 2


@pytest.mark.parametrize(
    ("given", "sorted_"),
    [
        ([2, 0, 1, 3], [0, 1, 2, 3]),
        ([5, 0, 4], [0, 4, 5]),
        ([5, 4, 3, 1, 2, 0], [1, 2, 0, 4, 5, 3]),
    ],
)
def test_what_a_job_says_goes_where_it_goes(given: list[int], sorted_: list[int]) -> None:
    moved = translated([SORTED[n] for n in given])
    rows = translated([SORTED[n] for n in sorted_]).rows

    assert moved.positions is not None
    assert _facts(moved) == _facts(Translated(rows, None))
    by_name = dict(zip(given, moved.positions, strict=True))
    assert by_name[sorted_[0]] == 1
    assert sorted(by_name, key=by_name.__getitem__) == sorted_


def _facts(one: Translated) -> dict[str, Any]:
    """Return the rows, each shape and combination of sets in full instead of its number."""
    rows = msgspec.to_builtins(one.rows)
    shapes, n_entries = rows.pop("shapes"), len(one.rows.entry_n) or one.rows.n_jobs
    sets: dict[int, list[int]] = {}
    pairs = zip(rows.pop("combo_number"), rows.pop("combo_set"), strict=True)
    for number, of_set in pairs:
        sets.setdefault(number, []).append(of_set)
    for name in ("shape_index", "group_id", "retry_on", "priority", "always_run", "combo_index"):
        column = rows[name]
        rows[name] = column * n_entries if len(column) == 1 else column
    rows["shape_index"] = [shapes[index] for index in rows["shape_index"]]
    rows["combo_index"] = [sets.get(number) for number in rows["combo_index"]]
    return {**rows, "n_shapes": len(shapes)}


def test_a_value_that_a_shell_could_run_is_refused() -> None:
    job = {"command": ["sh", "-c", "echo $(basename '{value}')"], "values": ["a", "b;touch x"]}
    with pytest.raises(InvalidDocument) as refused:
        rows_of([job])
    rows_of([{**job, "values": ["a", "b.txt"]}, {**job, "command": ["sh", "-c", "echo {value}"]}])

    (error,) = refused.value.errors
    assert (error.pointer, "b;touch x" in error.message) == ("/jobs/0/command", True)
