"""The answers about sets of jobs."""

from msgspec import Struct

from weft.wire.answers.field_types import Count


class MembersAdded(Struct, kw_only=True):
    """The number of jobs that a request added to a set, and the number that it has now."""

    batch_id: int
    group_id: int
    added: Count
    n_members: Count
