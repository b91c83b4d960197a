"""Compare a bunch with the jobs that already have its numbers.

The same jobs may come in another encoding, or with another trace id: then there is no difference,
and the request is a repeat.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from weft.core.errors import BunchDiffers, FieldError
from weft.core.states import SHARE_NEED
from weft.ports.store import JobRows, Reserved
from weft.submission.translation.cache import KEYS
from weft.wire.spec import JobSpec, decode_chunk

JOBS_MAX = 100_000
"""A larger bunch is not compared job by job."""
_ENVIRONMENTS = frozenset({"env", "inherit_env"})
_SHOWN_CHARS = 200
_OF_SHAPE = ("cpu_m", "memory_mib", "storage_mib", "gpu")
_AS_THEY_ARE = ("priority", "always_run", "max_attempts", "retry_on")
Fields = Mapping[str, Any]  # fields have several types


def refuse_if_different(rows: JobRows, update: Reserved, stored: Sequence[Fields]) -> None:
    """Raise `BunchDiffers` with the first difference, if there is one.

    `stored`: the existing jobs (`ApiStore.get_bunch`); none: there are too many.
    """
    if not stored:
        raise _differs(rows, FieldError("/jobs", "they differ from the existing jobs"))
    for index, (new, old) in enumerate(zip(_jobs_of(rows, update), stored, strict=True)):
        for field, value in new.items():
            if value != old[field]:
                message = _difference(field, value, old[field])
                raise _differs(rows, FieldError(f"/jobs/{index}/{field}", message))


def _differs(rows: JobRows, error: FieldError) -> BunchDiffers:
    return BunchDiffers(
        f"jobs {rows.first_job} to {rows.first_job + rows.n_jobs - 1} of the update already exist "
        "and differ",
        detail=f"The first difference is at {error}.",
        hint="Two clients fill the same update: create an update for each.",
        errors=[error],
    )


def _difference(
    field: str,
    new: Any,  # noqa: ANN401 (fields have several types)
    old: Any,  # noqa: ANN401 (same)
) -> str:
    if field not in _ENVIRONMENTS:
        return f"{_shown(new)} here, {_shown(old)} in the existing jobs"
    # Names only: values may be secret.
    names = sorted(name for name, _ in (new or {}).items() ^ (old or {}).items())
    return f"they differ in {', '.join(dict.fromkeys(names))}"[:_SHOWN_CHARS]


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()[:_SHOWN_CHARS]


def _jobs_of(rows: JobRows, update: Reserved) -> Iterator[Fields]:
    """Yield the fields of each job, with absolute numbers."""
    counts = rows.entry_n or [1] * rows.n_jobs
    specs = [spec for body in rows.chunk_body for spec in decode_chunk(body)]
    columns = zip(rows.label_job, rows.label_name, rows.label_attributes, strict=True)
    labels = {job: (name, attributes) for job, name, attributes in columns}
    labels |= {array.first_job: (array.name, array.attributes) for array in rows.arrays}
    kept = ({k: v for k, v in own.items() if k != KEYS} for own in rows.rare_fields)
    rare = dict(zip(rows.rare_job, kept, strict=True))
    sets, parents = _sets_by_combo(rows, update), _parents_by_child(rows, update)
    job = rows.first_job
    for entry, count in enumerate(counts):
        shape = rows.shapes[_at(rows.shape_index, entry)]
        name, attributes = labels.get(job, (None, None))
        fields = {
            **{name: getattr(shape, name) for name in _OF_SHAPE},
            "group": _absolute(_at(rows.group_id, entry), update.first_group),
            "groups": sets[_at(rows.combo_index, entry)] if rows.combo_index else [],
            **{name: _at(getattr(rows, name), entry) for name in _AS_THEY_ARE},
            "name": name,
            "attributes": attributes or None,
            "parents": sorted(parents.get(job, ()), key=lambda number: abs(number) % 10**9),
            "rare_fields": rare.get(job, {}),
        }
        for number in range(job, job + count):
            yield {**fields, **spec_fields(specs[number - rows.first_job])}
        job += count


def spec_fields(spec: JobSpec) -> Fields:
    """Return what a spec says of its job, without the trace id of the request that sent it."""
    fields = msgspec.structs.asdict(spec)
    del fields["trace_id"]
    return fields


def _at(column: Sequence[Any], entry: int) -> Any:  # noqa: ANN401 (columns of several types)
    return column[0] if len(column) == 1 else column[entry]


def _absolute(number: int, first: int) -> int:
    return first - 1 + number if number > 0 else -number


def _sets_by_combo(rows: JobRows, update: Reserved) -> dict[int, list[int]]:
    found: dict[int, set[int]] = {0: set()}
    for combo, one in zip(rows.combo_number, rows.combo_set, strict=True):
        found.setdefault(combo, set()).add(_absolute(one, update.first_group))
    return {combo: sorted(sets) for combo, sets in found.items()}


def _parents_by_child(rows: JobRows, update: Reserved) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    counts = rows.edge_parent_n or [1] * len(rows.edge_parent)
    for child, parent, count in zip(rows.edge_child, rows.edge_parent, counts, strict=True):
        first = _absolute(parent, update.first_job)
        own = found.setdefault(child, set())
        if count > 0:
            own.update(range(first, first + count))
        elif count <= SHARE_NEED:
            own.add(10**9 + first)
        else:
            own.add(-first if count else -(10**9) - first)
    return found
