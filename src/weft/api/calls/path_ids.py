"""Ids in the paths of calls: how each is called there, what is said of it, and how it is read.

The parameter of a use case that has such a type is that part of the path.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from weft.core.errors import BadId
from weft.core.files.file_paths import STORE
from weft.core.ids import CONDITION, parse_condition_id

NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")
QUEUE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")


@dataclass(frozen=True)
class PathId:
    """One kind of id."""

    name: str
    """Of the part of the path."""
    sentence: str
    """For the description."""
    pattern: str
    """Of what there may be."""
    parse: Callable[[str], Any]
    """Returns what the text stands for. Raises `BadId`."""


def _matching(
    name: str,
    sentence: str,
    pattern: re.Pattern[str],
    expected: str,
    *,
    kind: Callable[[str], Any] = str,
    **more: str,
) -> PathId:
    def parse(text: str) -> Any:  # noqa: ANN401 (as `kind` has it)
        if not pattern.fullmatch(text):
            raise BadId(text, expected=expected, **more)
        return kind(text)

    return PathId(name, sentence, pattern.pattern, parse)


SAVED_QUERY: Final = _matching(
    "saved", "The name of a saved query.", QUEUE, "a saved query has a name such as broken",
    hint="List yours with `weft query ls`.",
)  # fmt: skip
SavedQueryName = Annotated[str, SAVED_QUERY]
LicenceName = Annotated[str, PathId("l", "The name of a licence.", r"[^\x00]+", str)]
"""It may be one that none can have."""
StoreName = Annotated[
    str,
    _matching(
        "store", "The name of a store of files.", STORE, "a store has a name such as results",
        hint="List them with `weft store ls`.",
    ),
]  # fmt: skip
SecretName = Annotated[
    str,
    _matching(
        "secret", "The name of a secret.", QUEUE, "a secret has a name such as db-password",
        hint="List yours with `weft secret ls`.",
    ),
]  # fmt: skip
PoolName = Annotated[
    str, _matching("p", "The name of a pool.", QUEUE, "a pool has a name such as default")
]
TokenId = Annotated[
    int,
    _matching(
        "t", "The number of a token.", NUMBER, "a token is named by its number, not by its text",
        hint="List yours with `weft token ls`.", kind=int,
    ),
]  # fmt: skip
ConditionId = Annotated[
    int, PathId("c", "A condition: 3 or c3.", CONDITION.pattern, parse_condition_id)
]
ProductId = Annotated[
    int,
    _matching(
        "product", "The number of a product.", NUMBER, "a product is named by its number",
        hint="List them with `weft products`.", kind=int,
    ),
]  # fmt: skip
