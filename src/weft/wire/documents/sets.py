"""The documents about sets of jobs."""

from typing import Annotated

from msgspec import Struct

from weft.wire.description import says
from weft.wire.documents.field_types import ATTRIBUTES, CALLBACK, CANCEL_AFTER, PositiveInt


class QuerySetDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/groups?q=…`: the set that the query fills."""

    name: Annotated[str | None, says("Of the set.", "pca")] = None
    attributes: Annotated[dict[str, str], ATTRIBUTES] = {}
    cancel_after_n_failures: Annotated[PositiveInt | None, CANCEL_AFTER] = None
    callback: Annotated[str | None, CALLBACK] = None


class MembersDocument(Struct, forbid_unknown_fields=True):
    """`POST …/groups/{g}/members`: jobs of the batch."""

    jobs: Annotated[list[PositiveInt], says("Their numbers.", [1, 2, 7])]
