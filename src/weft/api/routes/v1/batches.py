"""`/v1/batches`: create, list, get, edit, delete, cancel, hold, release."""

from typing import Final

from litestar import Response, delete, get, patch, post

from weft.api.http.creating import creating
from weft.api.http.paging import PAGE, cursor_of, kind_of, limit_of, page
from weft.api.http.path_ids import batch_id_of
from weft.api.http.queries import QUERY, limits_of, query_of
from weft.api.http.replies import reply
from weft.api.http.requests import Query, read_body
from weft.api.services import AnyRequest, caller_of, services_of
from weft.api.use_cases.edit import Edits
from weft.api.use_cases.submit import Submission
from weft.core.query import EVERYTHING, Subject, all_of
from weft.core.query.tree import Field, Operator, TextTerm
from weft.ports.store import BatchQuery
from weft.wire.answers import Batch, BatchCreated, Cancelled, Change, HoldChanged, Operation, Plan
from weft.wire.documents import BatchDocument, CancelDocument, EditDocument, Empty

ROOT_GROUP = 0


def created(answer: object, *, is_new: bool) -> Response[bytes]:
    """Answer 201; a repeat gets the same, and a header that says so."""
    return reply(answer, 201, None if is_new else {"Idempotent-Replay": "true"})


@post("/v1/batches", opt={"answer": BatchCreated, "body": BatchDocument, "creates": True})
async def create_batch(request: AnyRequest) -> Response[bytes]:
    """Create a batch, with its groups and jobs if the document has any: one transaction,
    committed.
    """
    Query(request, ())
    answer, is_new = await Submission(await creating(request)).create_batch()
    return created(answer, is_new=is_new)


_LIST: Final = ("name", *QUERY, *PAGE)


@get("/v1/batches", opt={"page": Batch, "explained": Plan, "query": _LIST})
async def list_batches(request: AnyRequest) -> Response[bytes]:
    """List batches, newest first; `q`: those that a query chooses; `name`: only those of exactly
    this name; `explain`: how the query would be run.
    """
    query = Query(request, _LIST)
    services, caller = services_of(request), caller_of(request)
    store, settings = services.store, services.settings
    limit = limit_of(query, settings)
    name = query.text("name")
    kind = kind_of("b", query.text("q"), name)
    before = cursor_of(query, kind)
    node = query_of(query, Subject.BATCHES, settings)
    explain = query.flag("explain")
    if node is None and not explain:
        rows = await store.list_batches(caller, before=before, limit=limit, name=name)
        return reply(page(rows, limit, kind, "id"))
    named = EVERYTHING if name is None else TextTerm(Field.NAME, Operator.EQ, name)
    wanted = all_of((node or EVERYTHING, named))
    asked = BatchQuery(query=wanted, before=before, limit=limit, limits=limits_of(settings))
    if explain:
        return reply(await store.explain_batches(caller, asked))
    rows = await store.query_batches(caller, asked)
    return reply(page(rows, limit, kind, "id"))


@get("/v1/batches/{b:str}", opt={"answer": Batch})
async def get_batch(request: AnyRequest) -> Response[bytes]:
    """Get the state, counts and cost of a batch."""
    Query(request, ())
    batch_id = batch_id_of(request)
    return reply(await services_of(request).store.get_batch(caller_of(request), batch_id))


@patch("/v1/batches/{b:str}", opt={"answer": Batch, "accepted": Operation, "body": EditDocument})
async def edit_batch(request: AnyRequest) -> Response[bytes]:
    """Change name and attributes of a batch by a JSON merge patch: null removes. With `priority`
    the answer is the operation that gives it to the jobs that have not ended, 202.
    """
    Query(request, ())
    return await Edits(request).edit_batch(batch_id_of(request))


@delete(
    "/v1/batches/{b:str}",
    status_code=202,
    opt={"accepted": Operation, "body": Empty, "headers": ("Idempotency-Key",)},
)
async def delete_batch(request: AnyRequest) -> Response[bytes]:
    """Delete a batch with all that belongs to it. It is gone at once; what runs of it is stopped,
    and its rows are removed in the background: the answer is that operation.
    """
    Query(request, ())
    asked = await creating(request)
    asked.body.document(Empty)
    store = asked.services.store
    operation_id = await store.delete_batch(
        asked.caller,
        batch_id_of(request),
        trace_id=asked.trace_id,
        idempotency_key=asked.key,
        digest=asked.body.digest,
    )
    return reply(await store.get_operation(asked.caller, operation_id), 202)


@get("/v1/batches/{b:str}/history", opt={"page": Change, "query": PAGE})
async def batch_history(request: AnyRequest) -> Response[bytes]:
    """List what people changed of a batch, newest first."""
    return await history_page(request, ROOT_GROUP)


async def history_page(request: AnyRequest, group: int | str) -> Response[bytes]:
    """Answer with the changes of a group."""
    query = Query(request, PAGE)
    services, caller, batch_id = services_of(request), caller_of(request), batch_id_of(request)
    limit = limit_of(query, services.settings)
    if isinstance(group, str):
        group = int((await services.store.get_group(caller, batch_id, group))["group_id"])
    rows = await services.store.group_history(
        caller, batch_id, group, before=cursor_of(query, "c"), limit=limit
    )
    return reply(page(rows, limit, "c", "id"))


@post("/v1/batches/{b:str}/cancel", opt={"answer": Cancelled, "body": CancelDocument})
async def cancel_batch(request: AnyRequest) -> Response[bytes]:
    """Cancel all jobs of a batch that have not ended; with `force` those that always run, too."""
    Query(request, ())
    batch_id = batch_id_of(request)
    document = (await read_body(request)).document(CancelDocument)
    is_new = await services_of(request).store.cancel_group(
        caller_of(request), batch_id, ROOT_GROUP, force=document.force
    )
    return reply({"batch_id": batch_id, "cancelled": True, "was_cancelled": not is_new})


@post("/v1/batches/{b:str}/hold", opt={"answer": HoldChanged, "body": Empty})
async def hold_batch(request: AnyRequest) -> Response[bytes]:
    """Hold a batch: nothing of it starts until it is released; what runs goes on."""
    return await change_hold(request, ROOT_GROUP, held=True)


@post("/v1/batches/{b:str}/release", opt={"answer": HoldChanged, "body": Empty})
async def release_batch(request: AnyRequest) -> Response[bytes]:
    """Release a batch: its jobs may start, but for those that are held otherwise."""
    return await change_hold(request, ROOT_GROUP, held=False)


async def change_hold(request: AnyRequest, group: int | str, *, held: bool) -> Response[bytes]:
    """Hold or release a group, and say what it is now."""
    Query(request, ())
    (await read_body(request)).document(Empty)
    store, caller, batch_id = services_of(request).store, caller_of(request), batch_id_of(request)
    if isinstance(group, str):
        group = int((await store.get_group(caller, batch_id, group))["group_id"])
    change = store.hold_group if held else store.release_group
    is_new = await change(caller, batch_id, group)
    row = await store.get_group(caller, batch_id, group)
    return reply(
        {
            "batch_id": batch_id,
            "group_id": group,
            "held": row["held"],  # perhaps by a group above
            "was_held": is_new != held,
        }
    )


ROUTES = (
    create_batch, list_batches, get_batch, edit_batch, delete_batch, batch_history, cancel_batch,
    hold_batch, release_batch,
)  # fmt: skip
