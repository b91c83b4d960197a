"""Jobs of a batch as the rows of others, with what is to be different."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from weft.core.graph.parents import count_of, merged
from weft.core.scheduling.time_limits import ASK as TIME_LIMIT
from weft.core.scheduling.time_limits import limit_class
from weft.core.states import SHARE_NEED, Need
from weft.driver.operations.copied_specs import (
    Copied,
    carrier_of,
    carrying,
    changed_spec,
    pack_copied,
)
from weft.ports.store import ArrayRow, JobRows, Row, Shape
from weft.wire.spec import JobSpec, part_of_array


@dataclass(frozen=True)
class Page:
    """Consecutive jobs that are copied, and what belongs to them."""

    jobs: Sequence[Row]
    """As `DriverStore.list_resubmitted` returns them."""
    specs: Sequence[JobSpec]
    chunks: Mapping[int, bytes]
    """The chunks of their specs, by the first job."""
    carriers: Mapping[int, JobSpec]
    """The specs of the jobs that carry their functions."""
    changes: Mapping[str, Any]
    now: datetime
    first: int
    """The number of the first in the new batch."""
    at: Mapping[int, int] = field(default_factory=dict)
    """Positions in `jobs` by the old numbers."""


def rows_of(page: Page) -> JobRows:
    """Return the rows of these jobs. Of an array there is one entry for each stretch of jobs that
    are still alike.
    """
    entries = list(_entries(page.jobs))
    has_arrays = any(page.jobs[one.start]["array_first"] is not None for one in entries)
    firsts = [page.jobs[one.start] for one in entries]
    shapes: dict[Shape, int] = {}
    combos: dict[tuple[int, ...], int] = {(): 0}
    changes = page.changes
    rows = JobRows(
        first_job=page.first,
        n_jobs=len(page.jobs),
        shapes=[],
        shape_index=[shapes.setdefault(_shape(job, changes), len(shapes)) for job in firsts],
        group_id=[-job["group_id"] for job in firsts],
        priority=[changes.get("priority", job["priority"]) for job in firsts],
        always_run=[job["always_run"] for job in firsts],
        max_attempts=[changes.get("max_attempts", job["max_attempts"]) for job in firsts],
        retry_on=[job["retry_on"] for job in firsts],
        entry_n=[len(one) for one in entries] if has_arrays else [],
    )
    rows.shapes = list(shapes)
    rows.combo_index = [combos.setdefault(tuple(job["set_ids"]), len(combos)) for job in firsts]
    for sets, number in combos.items():
        rows.combo_number += [number] * len(sets)
        rows.combo_set += [-one for one in sets]
    if len(combos) == 1:
        rows.combo_index = []
    for entry in entries:
        _add_details(rows, page, entry, has_arrays=has_arrays)
    if not has_arrays and min(rows.edge_parent_n, default=1) > 0:
        rows.edge_parent_n = []
    _add_chunks(rows, page, entries)
    return rows


def _entries(jobs: Sequence[Row]) -> Iterator[range]:
    start = 0
    for end in range(1, len(jobs) + 1):
        if end < len(jobs) and _continues(jobs[end - 1], jobs[end]):
            continue
        yield range(start, end)
        start = end


_ALIKE = (
    "array_first",
    "cpu_m",
    "memory_mib",
    "storage_mib",
    "gpu",
    "countables",
    "group_id",
    "set_ids",
    "priority",
    "always_run",
    "max_attempts",
    "retry_on",
    "name",
    "attributes",
    "rare_fields",
    "parents",
    "parent_need",
)


def _continues(one: Row, following: Row) -> bool:
    """Return whether two jobs are neighbours in one array, and still alike."""
    if one["array_first"] is None or following["job_id"] != one["job_id"] + 1:
        return False
    return all(one[name] == following[name] for name in _ALIKE)


def _shape(job: Row, changes: Mapping[str, Any]) -> Shape:
    words = dict(changes.get("words", {}))
    for rule in (job["rare_fields"] or job["array_fields"] or {}).get("more", ()):
        if rule.get("word") == TIME_LIMIT:
            words[TIME_LIMIT] = rule["values"][0]
    if "timeout_s" in changes:
        words[TIME_LIMIT] = limit_class(changes["timeout_s"])
    asked = {**job["countables"], **words}
    return Shape(
        cpu_m=changes.get("cpu_m", job["cpu_m"]),
        memory_mib=changes.get("memory_mib", job["memory_mib"]),
        storage_mib=job["storage_mib"],
        gpu=job["gpu"],
        countables=tuple(
            sorted((name, _hashable(one)) for name, one in asked.items() if one is not None)
        ),
    )


def _hashable(value: Any) -> Any:  # noqa: ANN401 (a JSON value)
    return tuple(value) if isinstance(value, list) else value


def _add_details(rows: JobRows, page: Page, entry: range, *, has_arrays: bool) -> None:
    job, number = page.jobs[entry.start], page.first + entry.start
    edges = list(zip(job["parents"] or (), job["parent_need"] or (), strict=True))
    shares = [(SHARE_NEED + need, need) for need in sorted({own for _, own in edges if own < 0})]
    for sign, need in (1, 0), (-1, Need.END), (0, Need.START), *shares:
        parents = _new_parents(page, [parent for parent, own in edges if own == need])
        for one in merged(tuple(parents)) if has_arrays and abs(sign) == 1 else parents:
            rows.edge_child.append(number)
            rows.edge_parent.append(one.start if isinstance(one, range) else one)
            rows.edge_parent_n.append(sign * count_of(one))
    fields = job["rare_fields"] or job["array_fields"]
    if fields and (fields := _fields(fields, page)):
        rows.rare_job.append(number)
        rows.rare_fields.append(fields)
    if job["array_first"] is not None:
        rows.arrays.append(
            ArrayRow(
                first_job=number,
                n_jobs=len(entry),
                first_index=job["array_index"] + job["job_id"] - job["array_first"],
                name=job["array_name"],
                attributes=job["array_attributes"],
            )
        )
    if job["name"] is not None or job["attributes"]:
        for offset in range(len(entry)):
            rows.label_job.append(number + offset)
            rows.label_name.append(job["name"])
            rows.label_attributes.append(job["attributes"])


def _new_parents(page: Page, parents: Sequence[int]) -> list[int]:
    """Return the numbers of the parents that are in the new batch; the others have ended."""
    found = []
    for parent in parents:
        if parent > 0:
            found.append(parent)
        elif (at := page.at.get(-parent)) is not None:
            found.append(page.first + at)
    return sorted(found)


def _fields(fields: Mapping[str, Any], page: Page) -> dict[str, Any]:
    """Return the rare fields of a job; a deadline that has passed is left out, and so is
    what retries say of a time limit that is replaced.
    """
    found = dict(fields)
    if "timeout_s" in page.changes and "more" in found:
        found["more"] = [rule for rule in found["more"] if rule.get("word") != TIME_LIMIT]
    if "deadline" not in found:
        return found
    deadline = datetime.fromisoformat(found["deadline"])
    if deadline <= page.now:
        del found["deadline"], found["latest_start"]
    elif "timeout_s" in page.changes:
        latest = deadline - timedelta(seconds=page.changes["timeout_s"])
        found["latest_start"] = latest.astimezone(UTC).isoformat()
    return found


def _add_chunks(rows: JobRows, page: Page, entries: Sequence[range]) -> None:
    singles: list[Copied] = []
    for entry in entries:
        job = page.jobs[entry.start]
        if job["array_first"] is None:
            spec = page.specs[entry.start]
            carrier = carrier_of(spec, job["job_id"])
            singles.append(Copied(changed_spec(spec, page.changes), carrier))
            continue
        _flush(rows, page, singles, entry.start)
        first = job["job_id"] - job["spec_first"]
        body = part_of_array(
            page.chunks[job["spec_first"]],
            first,
            len(entry),
            partial(_template, page, job["spec_first"]),
        )
        assert body is not None, "an array has a chunk of its own"
        rows.chunk_first.append(page.first + entry.start)
        rows.chunk_n.append(len(entry))
        rows.chunk_body.append(body)
    _flush(rows, page, singles, len(page.jobs))


def _template(page: Page, array_first: int, template: JobSpec) -> JobSpec:
    carrier = carrier_of(template, array_first)
    if carrier is not None:
        template = carrying(template, page.carriers.get(carrier))
    return changed_spec(template, page.changes)


def _flush(rows: JobRows, page: Page, singles: list[Copied], end: int) -> None:
    """Add the chunks of the single jobs before this position."""
    number = page.first + end - len(singles)
    for n_jobs, body in pack_copied(singles, page.carriers):
        rows.chunk_first.append(number)
        rows.chunk_n.append(n_jobs)
        rows.chunk_body.append(body)
        number += n_jobs
    singles.clear()
