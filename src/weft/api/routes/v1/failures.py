"""`/v1/dead-letters` and `/v1/batches/{b}/failures`: jobs that failed for good, by cause."""

from typing import Final

from weft.api.http.dead_letter_pages import after_of, last_of
from weft.api.http.paging import PAGE, kind_of, limit_of, page_until
from weft.api.http.parameters import Query, cause_of, wrong_parameter
from weft.api.http.path_ids import batch_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Response, get
from weft.api.use_cases import failures
from weft.core.ids import parse_batch_id
from weft.core.states import Reason
from weft.wire.answers.failures import DeadLetter, Failures

_REASONS: Final = {reason.word: reason for reason in Reason}
_LIST: Final = ("batch", "cause", "reason", "acknowledged", *PAGE)


@get("/v1/batches/{b:str}/failures", opt={"answer": Failures, "query": ("all", "limit")})
async def list_causes(request: AnyRequest) -> Response[bytes]:
    """List why jobs of a batch failed for good, the most frequent causes first. `all`: also causes
    of which all jobs are acknowledged.
    """
    query = Query(request, ("all", "limit"))
    services = services_of(request)
    return reply(
        await failures.list_causes(
            services,
            caller_of(request),
            batch_id_of(request),
            show_all=query.flag("all"),
            limit=limit_of(query, services.settings),
        )
    )


@get("/v1/dead-letters", opt={"page": DeadLetter, "query": _LIST})
async def list_dead_letters(request: AnyRequest) -> Response[bytes]:
    """List jobs that have failed and are not tried again, of the newest batch first, then by
    cause. `batch`, `cause`, `reason`: only these; `acknowledged=true`: those that a person has
    acknowledged, instead of the others.
    """
    query = Query(request, _LIST)
    services, filters = services_of(request), [query.text(name) for name in _LIST[:4]]
    batch, cause, kind = query.text("batch"), cause_of(query), kind_of("f", *filters)
    wanted = failures.DeadLetterList(
        limit=limit_of(query, services.settings),
        batch_id=None if batch is None else parse_batch_id(batch),
        cause=cause,
        reason=_reason(query),
        acknowledged=query.flag("acknowledged"),
        after=after_of(query, kind),
    )
    rows = await failures.list_dead_letters(services, caller_of(request), wanted)
    shown = [{name: one[name] for name in one if name != "cause_id"} for one in rows]
    return reply(page_until(shown, kind, last_of(rows, wanted.limit)))


def _reason(query: Query) -> Reason | None:
    word = query.text("reason")
    if word is not None and word not in _REASONS:
        raise wrong_parameter("reason", f"{word[:40]!r} is not one of {', '.join(_REASONS)}")
    return None if word is None else _REASONS[word]


ROUTES = (list_causes, list_dead_letters)
