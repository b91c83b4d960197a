"""Answers questions of one kind of look-up."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.core.bounded import check_depth
from weft.ports.lookup import ANSWER_BYTES_MAX, LOOKUP_PLUGINS, Answered, LookUpAway
from weft.ports.source import SourceSite

ERROR_CHARS_MAX: Final = 300


def begin(asked: tuple[str, SourceSite]) -> Callable[[Mapping[str, Any]], Answered]:
    """Return what answers a question. Raise what the look-up raises."""
    name, site = asked
    found = LOOKUP_PLUGINS.load(name)()

    def answer(options: Mapping[str, Any]) -> Answered:
        try:
            value = found.look_up(options, site)
        except LookUpAway as error:
            return Answered(away=str(error)[:ERROR_CHARS_MAX], alone=error.alone)
        check_depth(value)
        text = json.dumps(value, allow_nan=False)
        if len(text) > ANSWER_BYTES_MAX:
            return Answered(
                away=f"the answer has more than {ANSWER_BYTES_MAX >> 10} KiB", alone=True
            )
        return Answered(json.loads(text))

    return answer
