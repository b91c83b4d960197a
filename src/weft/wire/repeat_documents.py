"""What people ask for to run jobs again."""

from typing import Annotated

from msgspec import Struct

from weft.wire.description import says
from weft.wire.documents import PositiveInt


class RetryJobsDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/retry`: without `jobs`, all failed jobs of the batch run again."""

    jobs: Annotated[
        list[PositiveInt] | None,
        says("Their numbers. They run again also if a person cancelled them.", [3, 7]),
    ] = None
