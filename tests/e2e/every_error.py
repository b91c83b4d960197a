"""What errors of the client say and hold of a value that it was to send."""

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weft import Client
from weft.core.errors import WeftError

NOWHERE = "http://127.0.0.1:1"
Call = Callable[[Client, str], object]
REFUSED: dict[str, Call] = {
    "its name is malformed": lambda client, value: client.set_secret("a b", value),
    "NUL": lambda client, value: client.set_secret("db", f"{value}\0"),
    "too large": lambda client, value: client.set_secret("db", value * 10_000),
    "no text": lambda client, value: client.set_secret("db", [value]),  # type: ignore[arg-type]
    "not UTF-8": lambda client, value: client.set_secret("db", f"{value}\udcff"),
}
"""Why a value is refused."""


def told_by_errors(home: Path, value: str, more: Call | None = None) -> dict[str, bytes]:
    """Return all that errors say, by why there was one."""
    calls = REFUSED | ({"the database": more} if more else {})
    told = {}
    with Client(home=home) as client:
        for why, call in calls.items():
            with pytest.raises((WeftError, ValueError)) as caught:
                call(client, value)
            told[why] = "\n".join(texts_of(caught.value)).encode(errors="surrogateescape")
    with Client(NOWHERE, "token", patience_s=0) as client:
        with pytest.raises(WeftError) as away:
            client.set_secret("db", value)
        told["away"] = "\n".join(texts_of(away.value)).encode()
    return told


def texts_of(error: BaseException) -> Iterator[str]:
    """Yield what an error and those that led to it say and hold."""
    yield "".join(traceback.format_exception(error))
    chain: list[BaseException | None] = [error]
    for one in chain:
        if one is not None:
            yield f"{one!r} {one.args!r} {vars(one)!r}"
            chain += [one.__cause__, one.__context__]
