"""Templates of jobs in a setup, `[job.NAME]`: fields of a job, as a batch document has them.

A template is never filled in: what an item brings reaches its job as environment, so that no value
becomes a part of a command or a script.
"""

from collections.abc import Mapping
from typing import Any, Final

from weft.core.lines.lifecycle import Say

ITEM_VARIABLE: Final = "WEFT_ITEM"
"""The item as JSON."""
ID_VARIABLE: Final = "WEFT_ITEM_ID"
"""Its key. A name with KEY in it would be masked as a secret."""
_OWN: Final = {
    "name": "it is the key of the item",
    "count": "an item is one job",
    "values": "an item is one job",
    "parents": "jobs of items wait for each other by series",
    "function": "a function comes with a submission; call a program",
}


def parse_template(document: object, say: Say) -> Mapping[str, Any] | None:
    """Check what only templates forbid; return `None` if something was said about it. The fields
    are checked as those of a batch document, where that is decoded.
    """
    if not isinstance(document, Mapping):
        say((), "it should be a table")
        return None
    refused = [field for field in _OWN if field in document]
    for field in refused:
        say((field,), f"a template has no such field: {_OWN[field]}")
    return None if refused else document
