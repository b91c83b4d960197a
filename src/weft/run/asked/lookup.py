"""The answers of one kind of look-up, in a process of its own: `python -m weft.run.asked.lookup`.

The api starts it with an environment without settings or secrets. The first line says which kind
it is and what it may do, each other line is a question.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from weft.core.addresses import parse_allowed_hosts
from weft.core.bounded import check_depth
from weft.ports.lookup import ANSWER_BYTES_MAX, LOOKUP_PLUGINS, LookUp, LookUpAway
from weft.ports.source import SourceSite
from weft.run.asked.thread_answers import Answer, run, serve

_ERROR_CHARS_MAX: Final = 300


def begin(asked: Mapping[str, Any]) -> tuple[Answer, Callable[[Any], Answer]]:
    """Return what answers questions of this kind."""
    site = SourceSite(
        allowed=parse_allowed_hosts(asked["private_hosts"]), timeout_s=asked["timeout_s"]
    )
    try:
        found = LOOKUP_PLUGINS.load(str(asked["plugin"]))()
    except Exception as error:  # noqa: BLE001 (a plug-in may raise anything)
        return {}, partial(_failed, f"it cannot be loaded: {error}")
    return {}, partial(answer, found, site)


def _failed(why: str, _: object) -> Answer:
    return {"value": None, "away": why[:_ERROR_CHARS_MAX]}


def answer(found: LookUp, site: SourceSite, options: Mapping[str, Any]) -> Answer:
    """Answer one question; whatever goes wrong, there is no answer."""
    try:
        value = found.look_up(options, site)
        check_depth(value)
        if len(json.dumps(value, allow_nan=False)) > ANSWER_BYTES_MAX:
            said = f"the answer has more than {ANSWER_BYTES_MAX >> 10} KiB"
            return {"value": None, "away": said, "alone": True}
    except LookUpAway as error:
        said = str(error)[:_ERROR_CHARS_MAX]
        return {"value": None, "away": said, "alone": error.alone}
    except Exception as error:  # noqa: BLE001 (a plug-in may raise anything)
        said = f"{type(error).__name__}: {error}"[:_ERROR_CHARS_MAX]
        return {"value": None, "away": said, "alone": True}
    return {"value": value}


if __name__ == "__main__":
    run(partial(serve, begin=begin))
