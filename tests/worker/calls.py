"""Calls for a real spawner, and what they returned."""

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import msgspec

from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.reader import FileReader
from weft.ports.log_store import AttemptLog
from weft.wire.function import CallBody, Definition, ResultHead, decode_head
from weft.wire.log_format import segment_location
from weft.wire.spawner import Hello, ProcessEnd, Start, StartProcess, WarmCall, WarmLimits
from worker.spawner_process import PATH, Agent

ARGV = (sys.executable, "-P", "-m", "weft.worker.warm", str(1 << 20))
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def call_of(
    key: AttemptKey,
    body: CallBody,
    definition: int | None = 0,
    **changes: Any,  # noqa: ANN401 (as the fields)
) -> StartProcess:
    """Return a call to be made."""
    values: dict[str, Any] = {
        "env": {"WEFT_JOB": f"b{key.batch_id}.j{key.job_id}"},
        "cwd": None,
        "stdin": None,
        "timeout_ms": None,
        "grace_ms": 300,
        "stream_bytes_max": 64 << 20,
        "stream_head_bytes": 1 << 20,
        "cpu_m": 1000,
        "memory_mib": 1,
        "argv": ARGV,
    }
    return StartProcess(
        key=key, warm=WarmCall(msgspec.msgpack.encode(body), definition), **{**values, **changes}
    )


class Caller:
    """An agent that has functions called."""

    def __init__(self, agent: Agent, logs: Path) -> None:
        self.agent = agent
        self._logs = logs
        self.env = {"PATH": PATH}

    def limit(self, limits: WarmLimits, *, memory_mib: int = 1000) -> None:
        """Set how long warm processes are kept."""
        self.agent.send(Hello(2000, memory_mib, warm=limits))

    def start(
        self,
        key: AttemptKey,
        function: Callable[..., Any],
        *args: Any,  # noqa: ANN401 (any arguments)
        **changes: Any,  # noqa: ANN401 (as the fields of StartProcess)
    ) -> None:
        """Have a function called."""
        definition = Definition(cloudpickle.dumps(function), PYTHON, ())
        body = CallBody(arguments=pickle.dumps((args, {})))
        # A process knows a function by the job that brought it: here each job brings its own.
        shared = [(key.job_id, msgspec.msgpack.encode(definition))]
        self.agent.send(Start([self.env], [call_of(key, body, **changes)], shared))

    def call(
        self,
        key: AttemptKey,
        function: Callable[..., Any],
        *args: Any,  # noqa: ANN401
        **changes: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401 (what it returns)
        """Have a function called and return what it returned."""
        self.start(key, function, *args, **changes)
        return self.value(self.agent.until(key))

    def result(self, ended: ProcessEnd) -> tuple[ResultHead, bytes, bytes]:
        """Return what is stored."""
        place = AttemptLog(
            ended.key.batch_id,
            ended.key.job_id,
            ended.key.attempt,
            ended=True,
            location=segment_location(ended.segment, ended.offset),
            stdout_bytes=ended.stdout_bytes,
            stderr_bytes=ended.stderr_bytes,
            truncated=ended.truncated,
            state="success",
        )
        found = FileReader(self._logs).results([place])
        data = b"".join(block for _, blocks in found for block in blocks)
        head, begin = decode_head(data)
        end = begin + head.value_bytes
        return head, data[begin:end], data[end:]

    def value(self, ended: ProcessEnd) -> Any:  # noqa: ANN401
        """Return what a call returned; raise what it raised."""
        assert ended.failure is None, ended.message
        _, value, error = self.result(ended)
        if error:
            raise pickle.loads(error)  # noqa: S301 (made by this test)
        return pickle.loads(value)  # noqa: S301
