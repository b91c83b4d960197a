"""Every text of a submission has a limit, and an error says which text breaks it.

The documents are made from the classes in `weft.wire.documents.batches`, so a new
field is tried, too.
"""

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import httpx
import msgspec
import pytest

from api.fakes import RecordingStore
from weft.core.problems import pointer_of
from weft.wire.documents.batches import (
    BatchDocument,
    EditDocument,
    GroupBunch,
    GroupDocument,
    JobBunch,
    QuerySetDocument,
    Resources,
    UpdateDocument,
)

BODIES: Final = {
    "/v1/batches": BatchDocument,
    "/v1/batches/1/updates": UpdateDocument,
    "/v1/batches/1/updates/1/jobs": JobBunch,
    "/v1/batches/1/updates/1/groups": GroupBunch,
    "/v1/batches/1/groups": GroupDocument,
    "/v1/batches/1/groups?q=pca": QuerySetDocument,
    "/v1/batches/1": EditDocument,
}
REQUIRED: Final = {
    "first": 1, "name": "n", "key": "k", "jobs": [{}], "groups": [{"name": "n"}],
    "policy": "stepwise", "wait_s": 1, "on": ["oom"], "steps": [], "per_s": 1, "n": 1,
    "durationMs": 1, "from": "a", "to": "b", "image": "i", "source": "/s", "target": "/t",
    "latencyMs": 1, "iterations": 1,
}  # fmt: skip
DATA: Final = {"args", "kwargs", "stdin"}
"""Fields that only the job reads: it may get a NUL in them."""
LONG: Final = "x" * (2 << 20)
Found = tuple[tuple[str | int, ...], Any]


def texts(kind: Any, text: str) -> Iterator[Found]:  # noqa: ANN401 (an annotation)
    """Yield the way to each place for a text, and a value that has the text there."""
    if kind is Resources:
        kind = dict[str, str]
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin, inner = get_origin(kind), get_args(kind)
    if kind is str:
        yield (), text
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield from _texts_of_struct(kind, text)
    elif isinstance(kind, UnionType):
        for one in inner:
            yield from texts(one, text)
    elif origin in {list, tuple}:
        for way, value in texts(inner[0], text):
            yield (0, *way), [value]
    elif origin is dict:
        yield (text,), {text: None if "None" in str(inner[1]) else "x"}
        yield from ((("k", *way), {"k": value}) for way, value in texts(inner[1], text))


def _texts_of_struct(kind: type[msgspec.Struct], text: str) -> Iterator[Found]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    hints = get_type_hints(kind, include_extras=True)
    needed = {name: REQUIRED[name] for name, field in fields.items() if field.required}
    config = kind.__struct_config__
    if config.tag_field is not None:  # one of several kinds, which it names
        needed[config.tag_field] = config.tag
    if "inherit_env" in fields:
        needed["jobs"] = REQUIRED["jobs"]  # of no job, it is not read
    for name, field in fields.items():
        for way, value in texts(hints[field.name], text):
            yield (name, *way), {**needed, name: value}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("text", ["a\0b", LONG], ids=["nul", "long"])
async def test_no_text_is_stored_unchecked(
    client: httpx.AsyncClient, store: RecordingStore, path: str, text: str
) -> None:
    tried = 0
    for way, document in texts(BODIES[path], text):
        if text != LONG and DATA & set(way):
            continue
        tried += 1
        method = "PATCH" if BODIES[path] is EditDocument else "POST"
        answer = await client.request(method, path, json=document)
        shown = pointer_of(*way)[:80]

        assert answer.status_code == 400, (shown, answer.text[:200])
        pointers = [one["pointer"] for one in answer.json()["errors"]]
        assert any(one and pointer_of(*way).startswith(one) for one in pointers), (shown, pointers)
    assert tried >= 3
    assert (store.created, store.bunches) == ([], [])
