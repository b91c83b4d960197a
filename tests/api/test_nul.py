"""A NUL in any text or key of any document is refused; it never reaches the database."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from api.fakes import RecordingStore

NUL = "a\0b"
LABELS = {"attributes": {"key": "value"}}
GROUP = {"name": "set", "callback": "https://hook.example/", **LABELS}
JOB = {
    "command": ["true", "x"], "name": "one", "env": {"A": "b"}, "cwd": "/tmp",
    "resources": {"cpu": 1, "executor": "process"}, "groups": ["set"], "group": "/a/b",
    "retry_on": ["oom"], "executor": "process", "parents": ["two"], **LABELS,
}  # fmt: skip
FUNCTION = {"call": "math:sqrt", "path": ["/opt"], "python": "3.12"}
DOCUMENTS: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/v1/batches", {
        "name": "n", "billing_project": "default", "callback": "https://hook.example/", **LABELS,
        "groups": [GROUP, {"path": "/a/b", "kind": "tree", **LABELS}],
        "jobs": [JOB, {"name": "two"}, {"script": "true"}, {"function": FUNCTION}],
        "inherit_env": {"C": "d"},
    }),
    ("POST", "/v1/batches/1/updates", {"jobs": [JOB, {"name": "two"}], "inherit_env": {"C": "d"}}),
    ("POST", "/v1/batches/1/updates/1/jobs", {"first": 1, "jobs": [
        {"command": ["true"], "env": {"A": "b"}, "name": "one", **LABELS},
    ]}),
    ("POST", "/v1/batches/1/updates/1/groups", {"first": 1, "groups": [{**GROUP, "kind": "set"}]}),
    ("POST", "/v1/batches/1/groups", GROUP),
    ("POST", "/v1/batches/1/groups?q=pca", GROUP),
    *(("PATCH", f"/v1/batches/1{part}", {"name": "n", **LABELS, "priority": 3})
      for part in ("", "/groups/1", "/jobs/1")),
    *(("PATCH", f"/v1/batches/1{part}", {"attributes": {"key": None}})
      for part in ("", "/groups/1", "/jobs/1")),
]  # fmt: skip


def poisoned(value: Any) -> Iterator[Any]:  # noqa: ANN401 (any document)
    """Yield this document with a NUL in each of its keys and texts, one at a time."""
    if isinstance(value, str):
        yield NUL
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from ([*value[:n], changed, *value[n + 1 :]] for changed in poisoned(item))
    elif isinstance(value, dict):
        for key, item in value.items():
            rest = {k: v for k, v in value.items() if k != key}
            yield {**rest, NUL: item}
            yield from ({**value, key: changed} for changed in poisoned(item))


@pytest.mark.parametrize(
    ("method", "path", "document"),
    DOCUMENTS,
    ids=lambda value: re.sub(r"\W+", "-", str(value))[:40],
)
@pytest.mark.parametrize("codec", [msgspec.json, msgspec.msgpack], ids=["json", "msgpack"])
async def test_nul_in_any_text_or_key_is_refused(
    client: httpx.AsyncClient,
    store: RecordingStore,
    method: str,
    path: str,
    document: dict[str, Any],
    codec: Any,  # noqa: ANN401 (a module)
) -> None:
    media = "json" if codec is msgspec.json else "msgpack"
    for changed in poisoned(document):
        answer = await client.request(
            method,
            path,
            content=codec.encode(changed),
            headers={"content-type": f"application/{media}"},
        )

        assert answer.status_code == 400, (changed, answer.text)
    assert (store.created, store.bunches) == ([], [])
