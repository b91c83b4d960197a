"""`GET /v1/batch-actions`: what an action would do to many batches."""

from typing import Final

from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Response, get
from weft.api.use_cases import bulk
from weft.core.batch_actions import BatchAction
from weft.wire.documents.batch_actions import BatchActionCount

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


ROUTES = (count_batch_action,)
"""The routes of actions on many batches."""
