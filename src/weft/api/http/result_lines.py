"""What functions returned: one line of JSON each. A result is passed on as bytes; only its head is
read.
"""

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from weft.api.http.output_lines import BLOCK_BYTES, head_of
from weft.api.http.problem_documents import encode
from weft.api.use_cases.output import elsewhere
from weft.ports.log_store import AttemptLog, LogStore
from weft.wire.function import ResultHead, decode_head

_LINES_BYTES: Final = 1 << 18


class _Long(NamedTuple):
    """A result that does not end with its first block."""

    log: AttemptLog
    head: ResultHead
    first: bytes
    blocks: AsyncIterator[bytes]


async def result_lines(
    logs: LogStore, ended: AsyncGenerator[Sequence[AttemptLog]]
) -> AsyncIterator[bytes]:
    """Yield a line for each of these logs, in order."""
    async with aclosing(ended):
        async for some in ended:
            lines = bytearray()
            async for log, blocks in logs.results(some):
                line = _line(logs, log, await anext(blocks, b""), blocks)
                if isinstance(line, bytes):
                    lines += line
                if lines and (len(lines) > _LINES_BYTES or not isinstance(line, bytes)):
                    yield bytes(lines)
                    lines.clear()
                if not isinstance(line, bytes):
                    async for part in _long_line(line):
                        yield part
            if lines:
                yield bytes(lines)


def _line(
    logs: LogStore, log: AttemptLog, first: bytes, blocks: AsyncIterator[bytes]
) -> bytes | _Long:
    """Return the line of a short result."""
    try:
        head, begin = decode_head(first)
    except ValueError:  # the function returned nothing, or damaged its own result
        head_of_line = head_of(log, elsewhere(logs, log))
        return encode({**head_of_line, **_described(None), "value": None}) + b"\n"
    end = begin + head.value_bytes
    if len(first) < end + head.error_bytes:
        return _Long(log, head, first[begin:], blocks)
    document = {
        **head_of(log, None),
        **_described(head, first[end : end + head.error_bytes]),
        "value": base64.b64encode(first[begin:end]).decode(),
    }
    return encode(document) + b"\n"


def _described(head: ResultHead | None, error: bytes = b"") -> dict[str, Any]:
    if head is None:
        return {"form": None, "seconds": None, "traceback": None, "error": None}
    return {
        "form": head.form,
        "seconds": head.seconds,
        "traceback": head.traceback or None,
        "error": base64.b64encode(error).decode() if error else None,
    }


async def _long_line(long: _Long) -> AsyncIterator[bytes]:
    """Yield a line in parts, because it may have more than a hundred million bytes."""
    head = long.head
    described = _described(head)
    del described["error"]
    yield encode({**head_of(long.log, None), **described})[:-1]
    reader = _Reader(long.first, long.blocks)
    for name, length in (("value", head.value_bytes), ("error", head.error_bytes)):
        if name == "error" and not length:
            yield b',"error":null'
            continue
        yield b',"%s":"' % name.encode()
        left = length
        while left and (block := await reader.read(min(left, BLOCK_BYTES))):
            left -= len(block)
            yield base64.b64encode(block)
        yield b'"'
    yield b"}\n"


class _Reader:
    """Read exact lengths from blocks."""

    def __init__(self, first: bytes, blocks: AsyncIterator[bytes]) -> None:
        self._rest = first
        self._blocks = blocks

    async def read(self, length: int) -> bytes:
        """Return this many bytes; fewer at the end."""
        while len(self._rest) < length and (block := await anext(self._blocks, b"")):
            self._rest += block
        data, self._rest = self._rest[:length], self._rest[length:]
        return data
