"""Outputs of many jobs, both streams in base64, and what functions returned: one line of JSON
each. A result is passed on as bytes; only its head is read.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from weft.api.http.problem_documents import encode
from weft.api.use_cases.output import elsewhere, missing_output
from weft.core.errors import WeftError
from weft.core.problems import problem_document
from weft.ports.log_store import AttemptLog, LogStore
from weft.wire.function import ResultHead, decode_head
from weft.wire.log_format import CUT, STDERR, STDOUT, Piece

SMALL_BYTES: Final = 64 * 1024
BLOCK_BYTES: Final = 255 * 1024
"""Divisible by three, so that blocks in base64 can be joined."""


async def output_lines(
    logs: LogStore, ended: AsyncGenerator[Sequence[AttemptLog]]
) -> AsyncIterator[bytes]:
    """Yield a line for each of these logs, in order."""
    async with aclosing(ended):
        async for found in ended:
            small: list[AttemptLog] = []
            for log in found:
                if log.stdout_bytes + log.stderr_bytes <= SMALL_BYTES:
                    small.append(log)
                    continue
                if small:
                    yield await _small_lines(logs, small)
                    small = []
                async for piece in _large_line(logs, log):
                    yield piece
            if small:
                yield await _small_lines(logs, small)


def head_of(log: AttemptLog, missing: WeftError | None) -> dict[str, Any]:
    """Return how a job ended, and why its output is missing."""
    problem = {} if missing is None else {"problem": problem_document(missing, trace_id="")}
    return problem | {
        "job_id": log.asked_job,
        "attempt": (log.attempt or None) if log.of_job is None else None,
        "state": log.state,
        "reason": log.reason,
        "exit_code": log.exit_code,
        "signal": log.signal,
        "message": log.message,
        "truncated": log.truncated,
    }


async def _small_lines(logs: LogStore, some: Sequence[AttemptLog]) -> bytes:
    written = [log for log in some if log.stdout_bytes + log.stderr_bytes]
    pieces_of = dict(zip(written, await logs.read_all(written), strict=True))
    return await asyncio.to_thread(
        lambda: b"".join(_small_line(logs, log, pieces_of.get(log, ())) for log in some)
    )


def _small_line(logs: LogStore, log: AttemptLog, pieces: Sequence[Piece]) -> bytes:
    document = head_of(log, missing_output(logs, log))
    kept: dict[int, bytearray] = {STDOUT: bytearray(), STDERR: bytearray()}
    for piece in pieces:
        if piece.kind != CUT:
            kept[piece.kind] += piece.data
    document["stdout"] = base64.b64encode(kept[STDOUT]).decode()
    document["stderr"] = base64.b64encode(kept[STDERR]).decode()
    return encode(document) + b"\n"


async def _large_line(logs: LogStore, log: AttemptLog) -> AsyncIterator[bytes]:
    """Yield a line in parts, because it may have more than a hundred million bytes."""
    yield encode(head_of(log, missing_output(logs, log)))[:-1]
    for name, stream in (("stdout", STDOUT), ("stderr", STDERR)):
        yield b',"%s":"' % name.encode()
        size = await logs.size(log, stream)
        start = 0
        while start < size:
            stop = min(size, start + BLOCK_BYTES)
            block = await logs.read(log, stream, start, stop)
            if not block:
                break
            yield base64.b64encode(block)
            start += len(block)
        yield b'"'
    yield b"}\n"


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
