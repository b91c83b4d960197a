"""The parts of `JobRows` that are not plain columns: edges, labels, specs, arrays."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final, cast

import msgspec

from weft.core.apps.description import FoundApp
from weft.core.ends.retry_with import MoreRule
from weft.core.graph.parents import Loose, Parents, count_of, number_of_need, numbers_of
from weft.core.graph.positions import Positions
from weft.ports.store import ArrayRow, JobRows
from weft.submission.translation.cache import CACHE, fill_keys
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.fields import JobField, changed_specs, kept_fields
from weft.submission.translation.functions import Carriers, carrying, with_functions
from weft.submission.translation.gates import job_gates, licence_gates
from weft.submission.translation.kinds import children_of_answers, with_apps
from weft.submission.translation.places import USUAL
from weft.wire.documents.foreign_jobs import ForeignJob
from weft.wire.documents.jobs import JobDocument
from weft.wire.spec import (
    CHUNK_BYTES_MAX,
    CHUNK_JOBS_MAX,
    SHARED_FIELDS,
    ArrayRange,
    JobSpec,
    SharedByDoor,
    compress_chunk,
    encode_array,
    pack_specs,
)
from weft.wire.usual_jobs import UsualSpec


@dataclass(frozen=True, kw_only=True)
class Columns:
    """A column has an element for each entry. It is empty if no entry has anything there, and
    has one element if all entries agree.
    """

    shape_index: Sequence[int]
    """Of the shapes of the request."""
    group_id: Sequence[int]
    retry_on: Sequence[int]
    """Bits, see `retries.py`."""
    combo_index: Sequence[int]
    """Of the combinations of sets."""
    licences: Sequence[Mapping[str, int]]
    """How many of each are asked for."""
    more: Sequence[Sequence[MoreRule]]
    """By which rules retries ask for more."""
    parents: Sequence[Parents]
    loose: Loose
    """Those of them that need not all succeed."""
    carriers: Carriers

    def of_entries(self, entries: Sequence[int]) -> "Columns":
        """Return the columns for these entries, in this order; an entry may come several times."""
        last = max(entries)
        loose = {need: [of[entry] for entry in entries] for need, of in self.loose.items()}
        columns: dict[str, Any] = {"loose": loose}  # elements of several types
        for field in (one for one in fields(self) if one.name != "loose"):
            column = getattr(self, field.name)
            is_full = len(column) > last
            columns[field.name] = [column[entry] for entry in entries] if is_full else column
        return Columns(**columns)


_SHARED_VALUES: Final = attrgetter(*SHARED_FIELDS)
"""The values of a job document that go to its executor as they are, in the order of a spec."""


def count_edges(parents: Sequence[Parents], positions: Positions) -> int:
    """Return the number of edges from these parents."""
    if not positions.has_arrays and all(isinstance(one, int) for own in parents for one in own):
        return sum(map(len, parents))
    return sum(
        positions.count_of(entry) * sum(map(count_of, own)) for entry, own in enumerate(parents)
    )


def fill_edges(rows: JobRows, columns: Columns, positions: Positions) -> None:
    """Add the edges one by one, or by ranges if there are arrays and all parents must succeed."""
    if columns.loose:
        for entry, (child, own) in enumerate(zip(positions.firsts, columns.parents, strict=True)):
            loose: dict[int, int] = {}
            for need, of in columns.loose.items():
                loose |= dict.fromkeys(numbers_of(of[entry]), number_of_need(need))
            numbers = list(numbers_of(own))
            rows.edge_child += [child] * len(numbers)
            rows.edge_parent += numbers
            rows.edge_parent_n += [loose.get(number, 1) for number in numbers]
        return
    for child, own in zip(positions.firsts, columns.parents, strict=True):
        if not own:
            continue
        if positions.has_arrays:
            rows.edge_child.extend([child] * len(own))
            rows.edge_parent.extend(one.start if isinstance(one, range) else one for one in own)
            rows.edge_parent_n.extend(map(count_of, own))
            continue
        rows.edge_parent.extend(numbers_of(own))
        rows.edge_child.extend([child] * (len(rows.edge_parent) - len(rows.edge_child)))


def fill_labels(rows: JobRows, jobs: Sequence[JobDocument], positions: Positions) -> None:
    """Add names and attributes, and what the jobs of each array share."""
    labelled = [n for n, job in enumerate(jobs) if job.name is not None or job.attributes]
    if positions.has_arrays:
        labelled = [n for n in labelled if jobs[n].array_size is None]
    rows.label_job = [positions.firsts[n] for n in labelled]
    rows.label_name = [jobs[n].name for n in labelled]
    rows.label_attributes = [jobs[n].attributes or None for n in labelled]
    if positions.has_arrays:
        rows.arrays = [
            ArrayRow(
                first_job=number,
                n_jobs=size,
                first_index=job.index_from,
                name=job.name,
                attributes=job.attributes or None,
            )
            for number, job in zip(positions.firsts, jobs, strict=True)
            if (size := job.array_size) is not None
        ]


def fill_rare_fields(
    rows: JobRows,
    jobs: Sequence[JobDocument],
    positions: Positions,
    fields: Sequence[JobField],
    columns: Columns,
    apps: Mapping[str, FoundApp],
) -> None:
    """Add what is kept of the fields that few jobs have, and the gates that are made of them."""
    kept = kept_fields(fields, jobs)
    for entry, asked in enumerate(columns.licences):
        if any(asked.values()):
            kept.setdefault(entry, {})["licences"] = asked
    for entry, rules in enumerate(columns.more):
        if rules:
            kept[entry]["more"] = rules
    for entry, values in sorted(kept.items()):
        if apps and (app := jobs[entry].app) is not None:
            values["app_revision"] = apps[app].revision_id
        if gates := [*job_gates(jobs[entry]), *licence_gates(values.get("licences", {}))]:
            values["gates"] = gates
        rows.rare_job.append(positions.firsts[entry])
        rows.rare_fields.append(msgspec.to_builtins(values))


def fill_chunks(
    rows: JobRows,
    jobs: Sequence[JobDocument],
    positions: Positions,
    fields: Sequence[JobField],
    columns: Columns,
    context: DocumentContext,
) -> None:
    """Add the specs of consecutive jobs in chunks. An array has a chunk of its own, and a job that
    carries a function begins one, so that other jobs find the function by its number.
    """
    shared, carriers = _shared_by(jobs), columns.carriers
    after_answers = children_of_answers(jobs, columns.parents, positions, context)
    specs = _specs_of(jobs, context, shared, usual=context.ordinary and not after_answers)
    for entry in after_answers:
        specs[entry] = msgspec.structs.replace(specs[entry], answers=True)
    if carriers:
        specs = with_functions(specs, jobs, positions, carriers)
    specs = changed_specs(fields, specs, jobs)
    if context.apps:
        specs = with_apps(specs, jobs, context.apps, context.settings)
    if any(field.name == CACHE for field in fields):
        fill_keys(rows, specs, jobs, positions, carriers, context)
    alone = carrying(jobs, carriers)
    arrays: list[int] = []
    if positions.has_arrays:
        arrays = [entry for entry, job in enumerate(jobs) if job.array_size is not None]
    start = 0
    for entry in [*arrays, len(jobs)]:
        while start < entry:
            stop = min(entry, start + CHUNK_JOBS_MAX, _next_of(alone, start, entry))
            first = positions.firsts[start]
            _add_chunks(rows, specs[start:stop], first, context.inherit_env, shared)
            start = stop
        if entry < len(jobs):
            array = ArrayRange(jobs[entry].index_from, positions.count_of(entry))
            values = jobs[entry].values
            body = encode_array(specs[entry], array, context.inherit_env, values)
            _add_chunk(rows, positions.firsts[entry], array.n_jobs, body)
            start = entry + 1


def _shared_by(jobs: Sequence[JobDocument]) -> SharedByDoor | None:
    """Return what all these jobs share that came through a door; None: not all is the same."""
    first = jobs[0]
    if not isinstance(first, ForeignJob):
        return None
    original, identity, own_paths = first.original, first.identity, first.own_paths
    for job in cast("Sequence[ForeignJob]", jobs):
        if job.original is not original or job.identity is not identity:
            return None
        if job.own_paths != own_paths:
            return None
    return SharedByDoor(original, identity, own_paths)


def _specs_of(
    jobs: Sequence[JobDocument],
    context: DocumentContext,
    shared: SharedByDoor | None,
    *,
    usual: bool,
) -> list[JobSpec]:
    """Return the specs; a door translates all jobs of a request or none. What stands once in each
    chunk is left out: an inherited environment, what the jobs share.
    """
    trace_id = context.trace_id
    if isinstance(jobs[0], ForeignJob) and shared is None:
        return [
            JobSpec(  # type: ignore[call-arg, misc]
                *_SHARED_VALUES(job),
                None,
                job.executor or USUAL,
                trace_id,
                original=job.original,
                identity=job.identity,
                own_paths=job.own_paths,
            )
            for job in cast("Sequence[ForeignJob]", jobs)
        ]
    if usual:
        return [  # one by one: `attrgetter` takes twice as long
            UsualSpec(
                job.command,
                job.script,
                job.env,
                job.cwd,
                job.stdin,
                job.timeout_s,
                job.umask,
                trace_id,
            )
            for job in jobs
        ]
    return [
        JobSpec(*_SHARED_VALUES(job), None, job.executor or USUAL, trace_id)  # type: ignore[call-arg]
        for job in jobs
    ]


def _next_of(entries: Sequence[int], after: int, end: int) -> int:
    """Return the first of these entries after `after`, or the end."""
    index = bisect_right(entries, after)
    return entries[index] if index < len(entries) else end


def _add_chunks(
    rows: JobRows,
    specs: list[JobSpec],
    first: int,
    inherit_env: dict[str, str] | None,
    shared: SharedByDoor | None,
) -> None:
    """Add these specs as one chunk, or as several if it would be too large."""
    packed = pack_specs(specs, inherit_env, shared)
    if len(packed) > CHUNK_BYTES_MAX and len(specs) > 1:
        half = len(specs) // 2
        _add_chunks(rows, specs[:half], first, inherit_env, shared)
        _add_chunks(rows, specs[half:], first + half, inherit_env, shared)
        return
    _add_chunk(rows, first, len(specs), compress_chunk(packed))


def _add_chunk(rows: JobRows, first: int, n_jobs: int, body: bytes) -> None:
    rows.chunk_first.append(first)
    rows.chunk_n.append(n_jobs)
    rows.chunk_body.append(body)
