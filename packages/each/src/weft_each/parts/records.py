"""`--joblog` and `--results`: what each job did, in files as GNU parallel writes them."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from weft.cli.terminal.exit_code import exit_code_of
from weft.core.errors import Invalid

_NAME_BYTES_MAX = 200
_HEAD = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"


class CannotRecord(Invalid, code="CLI.CANNOT_RECORD"):
    """A file of `--joblog` or `--results` that cannot be written."""

    advice = "Name a place where you may write, with --joblog or --results."


@dataclass(frozen=True)
class Submitted:
    """What a job was given, kept until its result is printed."""

    command: Sequence[str]
    values: Sequence[str]
    number: int
    """Its place in the input."""


class Records:
    """The files of one run."""

    def __init__(self, joblog: str | None, results: str | None) -> None:
        """Begin the log. Raises `CannotRecord`."""
        self._joblog = joblog
        self._results = None if results is None else Path(results)
        if joblog is not None:
            _write(Path(joblog), _HEAD.encode())
        if self._results is not None:
            _make(self._results)

    @property
    def needs_times(self) -> bool:
        """Say whether the documents of jobs are needed."""
        return self._joblog is not None

    def add(
        self, submitted: Submitted, row: Mapping[str, Any], job: Mapping[str, Any] | None
    ) -> None:
        """Record the result of one job. Raises `CannotRecord`."""
        if self._joblog is not None:
            line = _log_line(submitted, row, job or {})
            _write(Path(self._joblog), line, mode="ab")
        if self._results is not None:
            directory = self._results.joinpath(*_parts(submitted.values))
            _make(directory)
            for name, data in (
                ("stdout", row["stdout"]),
                ("stderr", row["stderr"]),
                ("seq", str(submitted.number).encode()),
            ):
                _write(directory / name, data)


def _log_line(submitted: Submitted, row: Mapping[str, Any], job: Mapping[str, Any]) -> bytes:
    started = job.get("started_at")
    signal = row.get("signal") or 0
    fields = (
        submitted.number,
        ":",
        f"{datetime.fromisoformat(started).timestamp():.3f}" if started else "0.000",
        f"{(job.get('duration_ms') or 0) / 1000:10.3f}",
        0,
        len(row["stdout"]),
        0 if signal else exit_code_of(row),
        signal,
        shlex.join(submitted.command).replace("\n", "\\n"),
    )
    return os.fsencode("\t".join(map(str, fields)) + "\n")


def _parts(values: Sequence[str]) -> list[str]:
    """Return the directories of a job: the position and the text of each value.

    A slash is written as in parallel, so a value names nothing outside the directory.
    """
    parts: list[str] = []
    for position, value in enumerate(values, 1):
        text = value.replace("\\", "\\\\").replace("\t", "\\t").replace("/", "\\_")
        text = "\\" + text if text in {"", ".", ".."} else text
        name = os.fsencode(text)
        if len(name) > _NAME_BYTES_MAX:  # others may begin alike
            name = name[: _NAME_BYTES_MAX - 17] + b"~" + sha256(name).hexdigest()[:16].encode()
        parts += [str(position), os.fsdecode(name)]
    return parts


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot(directory, error) from error


def _write(file: Path, data: bytes, *, mode: str = "wb") -> None:
    try:
        with file.open(mode) as opened:
            opened.write(data)
    except OSError as error:
        raise _cannot(file, error) from error


def _cannot(path: Path, error: OSError) -> CannotRecord:
    return CannotRecord(f"cannot write {path}", detail=f"{error.strerror}.")
