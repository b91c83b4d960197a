"""Every text of a submission has a limit, and an error says which text breaks it.

The documents are made from the classes in `weft.wire.documents.batches`, so a new
field is tried, too.
"""

from typing import Final

import httpx

from api.fakes import RecordingStore
from api.field_walk import fields_of
from cases import cases, part
from weft.api.app import Application
from weft.core.problems import pointer_of

PATHS: Final = {
    "/v1/batches", "/v1/batches/1/updates", "/v1/batches/1/updates/1/jobs",
    "/v1/batches/1/updates/1/groups", "/v1/batches/1/groups", "/v1/batches/1",
}  # fmt: skip
DATA: Final = {"args", "kwargs", "stdin"}
"""Fields that only the job reads: it may get a NUL in them."""
LONG: Final = "x" * (2 << 20)


@cases("text", ["a\0b", LONG])
async def test_no_text_is_stored_unchecked(
    client: httpx.AsyncClient, app: Application, store: RecordingStore, text: str
) -> None:
    tried = 0
    fields = [*fields_of(app, (str,), text, PATHS)]
    for one in part(fields, 0, 3) if text == LONG else fields:
        way = tuple(text if part == "KEY" else part for part in one.where.split("/"))
        if text != LONG and DATA & set(way):
            continue
        tried += 1
        answer = await client.request(one.method, one.path, json=one.document)
        shown = f"{one.path} {one.where}"

        assert answer.status_code == 400, (shown, answer.text[:200])
        pointers = [error["pointer"] for error in answer.json()["errors"]]
        assert any(at and pointer_of(*way).startswith(at) for at in pointers), (shown, pointers)
    assert tried > len(fields) // 4
    assert (store.created, store.bunches) == ([], [])
