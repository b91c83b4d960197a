"""Parameters of production lines."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from msgspec import UNSET

from weft.api.calls.call import Cursor, Word, call
from weft.api.calls.path_ids import ParameterName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.bounds import INT_MAX
from weft.core.errors import FieldError, InvalidDocument
from weft.core.lines.line import wrong_value
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.documents.parameters import LineParameter, ParameterDocument


@call(
    "GET /v1/parameters",
    Right.READ,
    page=LineParameter,
    cursor=Cursor("param", "parameter"),
    public=False,
)
async def list_parameters(
    services: Services,
    caller: Caller,
    as_of: Annotated[datetime | None, Word("as_of")],
    *,
    after: str,
    limit: int,
) -> Sequence[Row]:
    """Return the parameters of production lines in the order of their names, as they are, or as
    they were at a date.
    """
    return await services.store.list_parameters(
        caller, names=None, as_of=as_of, after=after, limit=limit
    )


@call("GET /v1/parameters/{parameter}", Right.READ, LineParameter, public=False)
async def get_parameter(services: Services, caller: Caller, name: ParameterName) -> Row:
    """Return the value of a parameter, with its version. Raise `ParameterNotFound`."""
    (found,) = await services.store.list_versions(caller, name, before=None, limit=1)
    return found


@call(
    "GET /v1/parameters/{parameter}/history",
    Right.READ,
    page=LineParameter,
    cursor=Cursor("version", "version", INT_MAX),
    public=False,
)
async def list_versions(
    services: Services, caller: Caller, name: ParameterName, *, before: int | None, limit: int
) -> Sequence[Row]:
    """Return the versions of a parameter, the newest first. Raise `ParameterNotFound`."""
    return await services.store.list_versions(caller, name, before=before, limit=limit)


@call(
    "PUT /v1/parameters/{parameter}",
    Right.OPERATE,
    LineParameter,
    public=False,
    marks={"refuses": (409,)},
)
async def set_parameter(
    services: Services, caller: Caller, name: ParameterName, document: ParameterDocument
) -> Answer:
    """Give a parameter a value from now on; return it. Items that get their jobs afterwards are
    configured by it; the same value again changes nothing. Only for operators.
    """
    if what := wrong_value(document.value):
        raise InvalidDocument.of([FieldError("/value", what)])
    kind = None if document.type is UNSET else str(document.type)
    found = await services.store.set_parameter(caller, name, document.value, kind)
    log.info("parameter.set", parameter=name, version=found["version"], user=caller.user_name)
    return {**found}
