"""`/v1/batch-actions`: cancel, retry, hold or release many batches."""

from typing import Final

from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_submission, services_of
from weft.api.http.routing import Response, get, post
from weft.api.use_cases import bulk
from weft.core.batch_actions import BatchAction
from weft.core.errors import FieldError, InvalidDocument
from weft.wire.answers.batches import Operation
from weft.wire.documents.batch_actions import BatchActionCount, BatchActionDocument

_COUNT: Final = ("action", "q")


@get("/v1/batch-actions", opt={"answer": BatchActionCount, "query": _COUNT})
async def count_batch_action(request: AnyRequest) -> Response[bytes]:
    """Count what an action would do to the batches that match a query, or to all; nothing is
    done. At most the newest `bulk_batches_max` are counted, and `has_more` tells that there are
    more.
    """
    query = Query(request, _COUNT)
    word = query.text("action")
    if word not in set(BatchAction):
        raise wrong_parameter("action", f"it is one of {', '.join(BatchAction)}")
    chosen = await bulk.choose_by_query(
        services_of(request), caller_of(request), BatchAction(word), query.text("q")
    )
    return reply(
        {
            "action": word,
            "n_batches": len(chosen.rows),
            "n_jobs": chosen.n_jobs,
            "n_idle": chosen.n_idle,
            "has_more": chosen.has_more,
        }
    )


@post(
    "/v1/batch-actions",
    status_code=202,
    opt={"accepted": Operation, "body": BatchActionDocument, "headers": ("Idempotency-Key",)},
)
async def begin_batch_action(request: AnyRequest) -> Response[bytes]:
    """Cancel, retry, hold or release batches, one after the other: those of a list, of which none
    may be anybody's whom the caller may not change, or all that match a query, but for batches
    that are created later. The reply is the operation that does so. Each batch is treated as by a
    request of its own at that moment. `result` counts what was done so far: `n_changed`; `n_idle`:
    there was nothing to do; `n_skipped`: the caller may not do it, for example, and `skipped` says
    by the code of the error how often.
    """
    Query(request, ())
    document, origin = await read_submission(request, BatchActionDocument)
    services, caller = services_of(request), caller_of(request)
    if (document.query is None) == (document.batches is None):
        raise InvalidDocument(
            "an action names batches, or says which ones by a query",
            detail=f"The request does {'both' if document.batches else 'neither'}.",
            hint="Send `query` or `batches`.",
            errors=[FieldError("/query", "exactly one of query and batches is needed")],
        )
    if document.query is not None:
        operation = await bulk.begin_by_query(
            services, caller, document.action, document.query, origin
        )
        return reply(operation, 202)
    batch_ids = sorted(set(document.batches or ()))
    operation = await bulk.begin_on_batches(services, caller, document.action, batch_ids, origin)
    return reply(operation, 202)


ROUTES = (count_batch_action, begin_batch_action)
"""The routes of actions on many batches."""
