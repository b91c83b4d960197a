"""Documents whose jobs stand before their parents are put into order, with all that jobs say."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
import pytest

from weft.api.http.decoding import JSON, decode
from weft.core.problems import Problems
from weft.settings import Settings
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.fields import are_ordinary
from weft.submission.translation.jobs import Translated, translate
from weft.wire.documents.batches import BatchDocument, JobDocument
from weft.wire.spec import CHUNK_BYTES_MAX
from weft.wire.usual_jobs import USUAL_FIELDS, UsualJob

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
        settings=Settings(), trace_id="a" * 32, ordinary=are_ordinary(document.jobs), whole=True,
        group_by_path={"/g": 1, "/h": 2}, set_by_name={"s": 3, "t": 4}, licences={"lic": 2},
    )  # fmt: skip
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
