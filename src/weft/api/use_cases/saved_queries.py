"""Saved queries: a caller gives queries for batches names, lists and removes their own."""

from weft.api.services import Services
from weft.api.use_cases import read
from weft.core.errors import FieldError, InvalidValue, SavedQueryNotFound, TooManySavedQueries
from weft.core.query import Subject
from weft.ports.store import Caller
from weft.submission.services import Answer


async def save_query(services: Services, caller: Caller, name: str, query: str) -> Answer:
    """Give a query for batches a name, in place of one of the same name. Raise `BadQuery`,
    `TooManySavedQueries`.
    """
    if not query.strip():
        raise InvalidValue("no query was saved", errors=[FieldError("/query", "it is empty")])
    read.parse(query, Subject.BATCHES, services.settings)
    most = services.settings.saved_queries_per_user_max
    found = await services.store.save_query(caller, name, query, queries_max=most)
    if found is None:
        raise TooManySavedQueries(
            "you have too many saved queries",
            detail=f"A user may have {most} (saved_queries_per_user_max).",
        )
    return dict(found)


async def get_saved_query(services: Services, caller: Caller, name: str) -> Answer:
    """Return a saved query of the caller. Raise `SavedQueryNotFound`."""
    found = await services.store.list_saved_queries(caller, name)
    if not found:
        raise _not_found(name)
    return dict(found[0])


async def remove_saved_query(services: Services, caller: Caller, name: str) -> Answer:
    """Forget a saved query of the caller. Raise `SavedQueryNotFound`."""
    if not await services.store.remove_saved_query(caller, name):
        raise _not_found(name)
    return {"name": name}


def _not_found(name: str) -> SavedQueryNotFound:
    return SavedQueryNotFound(
        f"saved query {name} does not exist", detail="You have no saved query with this name."
    )
