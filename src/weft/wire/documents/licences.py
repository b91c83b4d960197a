"""The documents about licences."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.core.scheduling.offers import AMOUNT_MAX
from weft.wire.description import says

Places = Annotated[int, Meta(ge=0, le=AMOUNT_MAX)]


class LicenceDocument(Struct, forbid_unknown_fields=True):
    """`PUT /v1/licences/{l}`: how many there are."""

    n: Annotated[Places, says("What jobs may have at a time, in all pools together.", 5)]
