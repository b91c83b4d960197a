"""Pegasus workflows (DAX, an XML format) as they are read, piece by piece.

A workflow comes from somewhere else, so the reader takes no document type: without one there are
no entities, neither external ones nor such that grow.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from weft.core.errors import Invalid
from weft.core.graph.parents import order_jobs, refers_to_earlier
from weft.core.graph.positions import Positions
from weft.core.problems import Problems

JOBS_MAX: Final = 10_000_000
NAME_CHARS_MAX: Final = 256
JOB_ELEMENTS: Final = frozenset({"job", "dag", "dax"})
"""A workflow within a workflow counts as one job."""


class UnreadableWorkflow(Invalid, code="CLI.UNREADABLE_WORKFLOW"):
    """A file that is not a Pegasus workflow."""

    advice = "Convert the DAX file as Pegasus wrote it; nothing was written."


@dataclass(frozen=True)
class DaxJob:
    """One job of a workflow."""

    name: str
    """Its id in the file, which is unique."""
    runtime_s: float
    attributes: Mapping[str, str]


@dataclass
class Workflow:
    """Jobs in an order in which parents come first."""

    name: str | None
    jobs: list[DaxJob] = field(default_factory=list)
    parents: list[list[str]] = field(default_factory=list)
    """Names of each job's parents."""

    @property
    def n_edges(self) -> int:
        """Return how many pairs of a job and its parent there are."""
        return sum(map(len, self.parents))


class DaxReader:
    """Is fed the bytes of a file, then returns the workflow. Errors name the line."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._root: Mapping[str, str] | None = None
        self._jobs: dict[str, DaxJob] = {}
        self._parents: dict[str, dict[str, int]] = {}
        """By child: its parents, and the line that says so."""
        self._child: str | None = None

    def feed(self, data: bytes) -> None:
        """Read the next piece."""
        self._parse(data, is_final=False)

    def finish(self) -> Workflow:
        """Return the workflow. Raise `UnreadableWorkflow`, or `ParentCycle` with its path."""
        self._parse(b"", is_final=True)
        assert self._root is not None
        self._check_references()
        names = list(self._jobs)
        position = {name: index for index, name in enumerate(names, 1)}
        parents = [tuple(position[one] for one in self._parents.get(name, ())) for name in names]
        problems = Problems()
        order = order_jobs(parents, names, problems, Positions([None] * len(names)))
        problems.raise_any()
        ordered = names if order is None else [names[index] for index in order]
        return Workflow(
            self._root.get("name") or None,
            [self._jobs[name] for name in ordered],
            [list(self._parents.get(name, ())) for name in ordered],
        )

    def _parse(self, data: bytes, *, is_final: bool) -> None:
        try:
            self._parser.Parse(data, is_final)
        except expat.ExpatError as error:
            raise self._wrong(expat.ErrorString(error.code), error.lineno) from error

    def _wrong(self, what: str, line: int | None = None) -> UnreadableWorkflow:
        at = line or self._parser.CurrentLineNumber
        return UnreadableWorkflow("cannot read the workflow", detail=f"Line {at}: {what}.")

    def _refuse_doctype(self, *_: object) -> None:
        raise self._wrong("it has a document type, which no DAX needs")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = tag.rpartition(" ")[2]
        if self._root is None:
            if element != "adag":
                raise self._wrong(f"it begins with <{element[:80]}> and not with <adag>")
            self._root = attributes
        elif element in JOB_ELEMENTS:
            self._add_job(attributes)
        elif element == "child":
            self._child = self._needed(attributes, "ref", element)
        elif element == "parent" and self._child is not None:
            parent = self._needed(attributes, "ref", element)
            line = self._parser.CurrentLineNumber
            self._parents.setdefault(self._child, {}).setdefault(_name_of(parent), line)

    def _end(self, tag: str) -> None:
        if tag.rpartition(" ")[2] == "child":
            self._child = None

    def _needed(self, attributes: Mapping[str, str], key: str, element: str) -> str:
        value = attributes.get(key, "")
        if not value or not value.isprintable() or len(value) > NAME_CHARS_MAX:
            raise self._wrong(f"<{element}> has no usable {key}")
        return _name_of(value) if element == "child" else value

    def _add_job(self, attributes: Mapping[str, str]) -> None:
        name = _name_of(self._needed(attributes, "id", "job"))
        if name in self._jobs:
            raise self._wrong(f"there are two jobs with the id {name!r}")
        if len(self._jobs) >= JOBS_MAX:
            raise self._wrong(f"it has more than {JOBS_MAX:,} jobs")
        told = {
            "transformation": attributes.get("name"),
            "namespace": attributes.get("namespace"),
            "version": attributes.get("version"),
            "runtime_s": attributes.get("runtime"),
        }
        kept = {key: value[:NAME_CHARS_MAX] for key, value in told.items() if value}
        self._jobs[name] = DaxJob(name, self._runtime_of(attributes), kept)

    def _runtime_of(self, attributes: Mapping[str, str]) -> float:
        """Return seconds. Workflows that a generator made have run times a little below 0."""
        text = attributes.get("runtime", "0")
        try:
            runtime_s = float(text)
        except ValueError:
            runtime_s = math.nan
        if not math.isfinite(runtime_s):
            raise self._wrong(f"runtime {text[:80]!r} is not a number of seconds")
        return max(0.0, runtime_s)

    def _check_references(self) -> None:
        if not self._jobs:
            raise self._wrong("it has no job")
        for child, parents in self._parents.items():
            for name, line in ((child, min(parents.values())), *parents.items()):
                if name not in self._jobs:
                    raise self._wrong(f"no job has the id {name!r}", line)


def _name_of(job_id: str) -> str:
    """Return the name for an id: another one if as a parent it would mean an earlier job."""
    return f"job {job_id}" if refers_to_earlier(job_id) else job_id
