"""Outputs of many jobs: one line of JSON each, both streams in base64."""

import asyncio
import base64
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Final

from weft.api.http.problem_documents import encode
from weft.api.use_cases.output import missing_output
from weft.core.errors import WeftError
from weft.core.problems import problem_document
from weft.ports.log_store import AttemptLog, LogStore
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
        "job_id": log.job_id,
        "attempt": log.attempt or None,
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
