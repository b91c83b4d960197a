"""Parameters of production lines."""

from msgspec import UNSET

from weft.api.services import Services
from weft.core.errors import FieldError, InvalidDocument
from weft.core.lines.parameters import wrong_value
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.telemetry.log import get_logger
from weft.wire.documents.parameters import ParameterDocument

log = get_logger()


async def set_parameter(
    services: Services, caller: Caller, name: str, document: ParameterDocument
) -> Answer:
    """Give it a value from now on; return it."""
    if what := wrong_value(document.value):
        raise InvalidDocument.of([FieldError("/value", what)])
    kind = None if document.type is UNSET else str(document.type)
    found = await services.store.set_parameter(caller, name, document.value, kind)
    log.info("parameter.set", parameter=name, version=found["version"], user=caller.user_name)
    return {**found}
