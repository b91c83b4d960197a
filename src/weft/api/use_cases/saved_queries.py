"""Saved queries: a caller gives queries for batches names, lists and removes their own."""

from collections.abc import Sequence

from weft.api.calls.call import call
from weft.api.calls.path_ids import SavedQueryName
from weft.api.services import Services
from weft.api.use_cases import read
from weft.core.access.rights import Right
from weft.core.errors import FieldError, InvalidValue, SavedQueryNotFound, TooManySavedQueries
from weft.core.problems import pointing
from weft.core.query import Subject
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.wire.documents.saved_queries import SavedQuery, SavedQueryDocument, SavedQueryRemoved


@call("GET /v1/saved-queries", Right.READ, page=SavedQuery)
async def list_saved_queries(services: Services, caller: Caller) -> Sequence[Row]:
    """Return one's saved queries by name, each with `name`, `query` and `updated_at`."""
    return await services.store.list_saved_queries(caller)


@call("PUT /v1/saved-queries/{saved}", Right.WRITE, SavedQuery)
async def save_query(
    services: Services, caller: Caller, name: SavedQueryName, document: SavedQueryDocument
) -> Answer:
    """Give a query for batches a name, in place of one of the same name. Raise `BadQuery`,
    `TooManySavedQueries`.
    """
    query = document.query
    if not query.strip():
        raise InvalidValue("no query was saved", errors=[FieldError("/query", "it is empty")])
    with pointing(lambda _: "/query"):
        read.parse(query, Subject.BATCHES, services.settings)
    most = services.settings.saved_queries_per_user_max
    found = await services.store.save_query(caller, name, query, queries_max=most)
    if found is None:
        raise TooManySavedQueries(
            "you have too many saved queries",
            detail=f"A user may have {most} (saved_queries_per_user_max).",
        )
    return dict(found)


@call("GET /v1/saved-queries/{saved}", Right.READ, SavedQuery)
async def get_saved_query(services: Services, caller: Caller, name: SavedQueryName) -> Answer:
    """Return one of one's saved queries. Raise `SavedQueryNotFound`."""
    saved_queries = await services.store.list_saved_queries(caller, name)
    if not saved_queries:
        raise _not_found(name)
    return dict(saved_queries[0])


@call("DELETE /v1/saved-queries/{saved}", Right.WRITE, SavedQueryRemoved, silent=True)
async def remove_saved_query(services: Services, caller: Caller, name: SavedQueryName) -> Answer:
    """Forget one of one's saved queries. Raise `SavedQueryNotFound`."""
    if not await services.store.remove_saved_query(caller, name):
        raise _not_found(name)
    return {"name": name}


def _not_found(name: str) -> SavedQueryNotFound:
    return SavedQueryNotFound(
        f"saved query {name} does not exist", detail="You have no saved query with this name."
    )
