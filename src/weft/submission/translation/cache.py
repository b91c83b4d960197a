"""Jobs that need not run if the same has succeeded before: what makes two of them the same."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from weft.core.errors import InvalidValue
from weft.core.files.file_paths import JobFile, WrongPath, name_of, parse_source
from weft.core.graph.positions import Positions
from weft.core.problems import Problems
from weft.ports.store import JobRows
from weft.settings import Settings
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.functions import Carriers
from weft.wire.documents.files import FileInput
from weft.wire.documents.jobs import JobDocument
from weft.wire.spec import ArrayRange, ArraySpecs, JobSpec

CACHE: Final = "cache"
KEYS: Final = "cache_keys"
"""Of each job of an entry; they are kept apart, and never shown."""
JOBS_MAX: Final = 10_000
"""Each job of an array has a key of its own."""
LEFT_OUT: Final = frozenset(
    {"timeout_s", "log", "trace_id", "shares", "original", "service", "answers"}
)
"""Fields of a spec that change nothing of what a job makes. `shares` is the function itself."""
_RUNS_ALWAYS: Final = {
    "wait": "a job that waits runs nothing",
    "service": "a service never ends well",
}


def check_cache(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note jobs of which there is nothing to keep."""
    if job.cache == "off":
        return
    for name, why in _RUNS_ALWAYS.items():
        if getattr(job, name) is not None:
            problems.add(InvalidValue, f"{at}/{CACHE}", why)
    if (job.array_size or 0) > JOBS_MAX:
        message = f"an array of {job.array_size} jobs, with `cache` at most {JOBS_MAX}"
        problems.add(InvalidValue, f"{at}/{CACHE}", message)


class _NotKnown(ValueError):
    """What a job gets is not known before it runs."""


def fill_keys(
    rows: JobRows,
    specs: Sequence[JobSpec],
    jobs: Sequence[JobDocument],
    positions: Positions,
    carriers: Carriers,
    context: DocumentContext,
) -> None:
    """Add the keys of the jobs that have such, or why they have none."""
    fields = dict(zip(rows.rare_job, rows.rare_fields, strict=True))
    has_waits = any(job.wait is not None for job in jobs)
    for entry, job in enumerate(jobs):
        if job.cache != "inputs":
            continue
        kept: dict[str, Any] = fields[positions.firsts[entry]]
        if specs[entry].answers and has_waits:
            kept["not_cached"] = "it gets the answers to its parents"
            continue
        try:
            spec = _with_function(specs, entry, positions, carriers)
            spec = msgspec.structs.replace(spec, inherit_env=context.inherit_env)
            array = ArrayRange(job.index_from, positions.count_of(entry))
            specs_of = [spec] if job.array_size is None else ArraySpecs(spec, array, job.values)
            kept[KEYS] = [key_of(spec) for spec in specs_of]
        except (_NotKnown, WrongPath) as error:
            kept["not_cached"] = str(error)


def _with_function(
    specs: Sequence[JobSpec], entry: int, positions: Positions, carriers: Carriers
) -> JobSpec:
    """Return the spec with the function that it calls, also if another job carries it."""
    spec = specs[entry]
    carrier = carriers[entry] if carriers else None
    if carrier is None or spec.function is None:
        return spec
    if carrier < positions.first:
        raise _NotKnown("its function came with an earlier request")
    other = specs[positions.entry_at(carrier)].function
    assert other is not None, "it carries the function"
    function = msgspec.structs.replace(spec.function, pickle=other.pickle)
    return msgspec.structs.replace(spec, function=function)


def key_of(spec: JobSpec) -> Mapping[str, Any]:
    """Return the digest of what runs, and the files of jobs whose digests belong to the key, too.
    Raise `_NotKnown`.
    """
    files = [_file_of(file) for file in spec.inputs or () if file.checksum is None]
    runs = {
        name: value
        for name in JobSpec.__struct_fields__
        if name not in LEFT_OUT and (value := getattr(spec, name)) is not None
    }
    runs["inputs"] = [  # where a file comes from does not matter: its digest does
        msgspec.structs.replace(file, from_=name_of(parse_source(file.from_)))
        for file in spec.inputs or ()
    ]
    digest = hashlib.sha256(msgspec.json.encode(runs, order="sorted")).hexdigest()
    return {"key": digest, **({"wants": files} if files else {})}


def _file_of(file: FileInput) -> Mapping[str, Any]:
    """Return which file of which job this is. Raise `_NotKnown`."""
    source = parse_source(file.from_)
    if not isinstance(source, JobFile):
        raise _NotKnown(f"its input {file.from_} has no `checksum`")
    return dict(
        zip(("batch", "job", "parent", "path"), source, strict=True)  # as the database names it
    )
