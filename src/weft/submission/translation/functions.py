"""Functions of jobs: checks, and their form in specs.

What a user pickled is never read here: it is bytes within a limit.
"""

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec

from weft.core.access.secret_variables import masked
from weft.core.errors import InvalidValue, ParentNotBelow, ParentNotFound
from weft.core.graph.positions import Positions
from weft.core.problems import Problems
from weft.settings import Settings
from weft.submission.translation.check import PATH_CHARS_MAX
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.places import FUNCTION
from weft.wire.documents.jobs import FunctionDocument, JobDocument
from weft.wire.payload import DIGEST
from weft.wire.spec import FunctionSpec, JobSpec

_NAME_CHARS_MAX: Final = 512
_PATH_ENTRIES_MAX: Final = 64
_VERSION: Final = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}")
_EARLIER: Final = re.compile(r"(?:b([1-9][0-9]{0,17})\.)?j([1-9][0-9]{0,8})")
_SHARED_VALUES: Final = attrgetter(*FunctionSpec.__struct_fields__[:-1])
"""The values of the document of a function that its spec has, too, in its order."""

Carriers = Sequence[int | None]
"""For each entry the position in the update of the job that carries its pickled function, negative
7 for j7; None: it needs none. Empty: no job has a function.
"""


def carriers_of(
    jobs: Sequence[JobDocument], positions: Positions, context: DocumentContext, problems: Problems
) -> Carriers:
    """Return which jobs carry the functions of these, and note what is wrong with them."""
    found: list[int | None] = [None] * len(jobs)
    has_any = False
    for entry, job in enumerate(jobs):
        if job.function is None:
            continue
        has_any = True
        _check_origin(job.function, f"/jobs/{entry}/function", problems)
        _check_arguments(job.function, f"/jobs/{entry}/function", context.settings, problems)
        if job.function.of is not None:
            found[entry] = _carrier(entry, job.function.of, jobs, positions, context, problems)
    return found if has_any else ()


def moved_carriers(
    carriers: Carriers, positions: Positions, numbers: Sequence[int], problems: Problems
) -> Carriers:
    """Return the carrier of each entry after all moved to `numbers`, their new first positions."""
    found: list[int | None] = []
    for entry, position in enumerate(carriers):
        if position is None or position < 0:
            found.append(position)
            continue
        moved = numbers[positions.entry_at(position)]
        if moved >= numbers[entry]:
            message = f"the parents of job {position} put it after this one"
            problems.add(ParentNotBelow, f"/jobs/{entry}/function/of", message)
        found.append(moved)
    return found


def carrying(jobs: Sequence[JobDocument], carriers: Carriers) -> list[int]:
    """Return the entries that carry a function."""
    if not carriers:
        return []
    functions = enumerate(job.function for job in jobs)
    return [entry for entry, one in functions if one is not None and one.pickle is not None]


def _check_origin(function: FunctionDocument, at: str, problems: Problems) -> None:
    given = [function.call, function.pickle, function.of]
    if sum(one is not None for one in given) != 1:
        problems.add(InvalidValue, at, "exactly one of `call`, `pickle` and `of` is required")
    if function.call is not None:
        module, colon, name = function.call.partition(":")
        words = [*module.split("."), *name.split(".")]
        is_name = colon and len(function.call) <= _NAME_CHARS_MAX
        if not is_name or not all(word.isidentifier() for word in words):
            message = f"{function.call[:80]!r} is not of the form package.module:name"
            problems.add(InvalidValue, f"{at}/call", message)
    if function.python is not None and not _VERSION.fullmatch(function.python):
        problems.add(InvalidValue, f"{at}/python", "not a version such as 3.12")
    if len(function.path) > _PATH_ENTRIES_MAX:
        problems.add(InvalidValue, f"{at}/path", f"at most {_PATH_ENTRIES_MAX} directories")
    paths = {f"path/{n}": entry for n, entry in enumerate(function.path[:_PATH_ENTRIES_MAX])}
    for name in ("interpreter", "directory"):
        if (path := getattr(function, name)) is not None:
            paths[name] = path
    for name, entry in paths.items():
        if not entry.startswith("/") or "\0" in entry or len(entry) > PATH_CHARS_MAX:
            problems.add(InvalidValue, f"{at}/{name}", "not an absolute path")


def _check_arguments(
    function: FunctionDocument, at: str, settings: Settings, problems: Problems
) -> None:
    if function.arguments is not None and (function.args or function.kwargs):
        message = "give `args` and `kwargs` or pickled `arguments`, not both"
        problems.add(InvalidValue, f"{at}/arguments", message)
    if function.arguments_digest is not None:
        _check_digest(function, function.arguments_digest, f"{at}/arguments_digest", problems)
    elif function.each and function.arguments is None:
        problems.add(InvalidValue, f"{at}/each", "`each` needs pickled `arguments`")
    limit = settings.function_bytes_max
    for name in ("args", "kwargs"):
        try:
            size = len(msgspec.msgpack.encode(getattr(function, name)))
        except OverflowError:
            message = "a whole number in it is not between -2**63 and 2**64; send it as a text"
            problems.add(InvalidValue, f"{at}/{name}", message)
            continue
        if size > limit:
            message = f"{size} bytes, at most {limit} (`function_bytes_max`)"
            problems.add(InvalidValue, f"{at}/{name}", message)
    for name, data in {"pickle": function.pickle, "arguments": function.arguments}.items():
        if data is not None and not 0 < len(data) <= limit:
            message = f"{len(data)} bytes, at least 1 and at most {limit} (`function_bytes_max`)"
            problems.add(InvalidValue, f"{at}/{name}", message)


def _check_digest(
    function: FunctionDocument, digest: str, pointer: str, problems: Problems
) -> None:
    if not DIGEST.fullmatch(digest):
        problems.add(InvalidValue, pointer, "not a SHA-256: 64 digits of lower-case hex")
    if function.arguments is not None or function.args or function.kwargs:
        message = "give arguments or the digest of a payload that holds them, not both"
        problems.add(InvalidValue, pointer, message)


def payloads_of(jobs: Sequence[JobDocument]) -> dict[str, str]:
    """Return the digests of the payloads that jobs refer to, by the pointers to them."""
    digests: dict[str, str] = {}
    for entry, job in enumerate(jobs):
        if job.function is not None and job.function.arguments_digest is not None:
            digests[f"/jobs/{entry}/function/arguments_digest"] = job.function.arguments_digest
        for name, field in (("code", job.code), ("requirements", job.requirements)):
            if field is not None:
                digests[f"/jobs/{entry}/{name}/digest"] = field.digest
    return {pointer: one for pointer, one in digests.items() if DIGEST.fullmatch(one)}


def _carrier(
    entry: int,
    of: int | str,
    jobs: Sequence[JobDocument],
    positions: Positions,
    context: DocumentContext,
    problems: Problems,
) -> int | None:
    """Return the position that a reference means, negative 7 for j7."""
    pointer = f"/jobs/{entry}/function/of"
    if isinstance(of, str):
        match = _EARLIER.fullmatch(of)
        if match is None:
            message = f"{of[:80]!r} is neither a position nor an existing job such as j7"
            problems.add(InvalidValue, pointer, message)
        elif context.batch_id is None:
            problems.add(ParentNotFound, pointer, "a new batch has no existing jobs")
        elif match[1] is not None and int(match[1]) != context.batch_id:
            problems.add(ParentNotFound, pointer, f"{of} is a job of another batch")
        return -int(match[2]) if match else None
    own = positions.firsts[entry]
    if not 1 <= of < own:
        message = f"job {of} does not come before this one, which is job {own}"
        problems.add(ParentNotBelow, pointer, message)
        return None
    if of >= positions.first:
        carrier = positions.entry_at(of)
        function = jobs[carrier].function
        if function is None or function.pickle is None:
            problems.add(InvalidValue, pointer, f"job {of} carries no pickled function")
        elif positions.firsts[carrier] != of:
            message = (
                f"the first job of this array, {positions.firsts[carrier]}, carries its function"
            )
            problems.add(InvalidValue, pointer, message)
    return of


def with_functions(
    specs: Sequence[JobSpec], jobs: Sequence[JobDocument], positions: Positions, carriers: Carriers
) -> list[JobSpec]:
    """Return these specs with the functions of their jobs."""
    found: list[JobSpec] = []
    for spec, job, own, carrier in zip(specs, jobs, positions.firsts, carriers, strict=True):
        function = job.function
        if function is None:
            found.append(spec)
            continue
        shares = carrier if carrier is None else (-carrier if carrier < 0 else carrier - own)
        stored = FunctionSpec(*_SHARED_VALUES(function))
        if stored.arguments_digest is not None:
            stored = msgspec.structs.replace(stored, arguments=b"")
        found.append(
            msgspec.structs.replace(spec, executor=FUNCTION, function=stored, shares=shares)
        )
    return found


def shown_spec(
    spec: JobSpec | None, job_id: int, masks: tuple[str, ...]
) -> JobSpec | dict[str, Any] | None:
    """Return a spec as users see it: secrets masked, pickled values as their lengths, and whose
    function it is. `masks`: patterns of variables whose values are not shown.
    """
    if spec is None:
        return None
    spec = msgspec.structs.replace(
        spec,
        requires=(),
        answers=None,
        env=None if spec.env is None else masked(spec.env, masks),
        inherit_env=None if spec.inherit_env is None else masked(spec.inherit_env, masks),
        original=None,  # its values are not masked, and it is in the format of a door
    )
    if spec.function is None:
        return spec
    document: dict[str, Any] = msgspec.to_builtins(spec, builtin_types=(bytes,))
    function = document["function"]
    for name in ("pickle", "arguments"):
        data = function.pop(name, None)
        if data:
            function[f"{name}_bytes"] = len(data)
    shares = document.pop("shares", None)
    if shares is not None:
        function["of"] = f"j{shares if shares > 0 else job_id + shares}"
    return document
