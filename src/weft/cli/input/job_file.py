"""What a job file may say besides the document of `POST /v1/batches`: defaults, keys of the user's
own, durations in words, times from now on, keys as text.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.cli.input.limit_options import parse_concurrency_key, parse_moment
from weft.core.durations import parse_seconds
from weft.core.errors import FieldError, InvalidValue, WrongType
from weft.core.problems import pointer_of

OWN = "x-"
_PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    "timeout_s": parse_seconds,
    "not_before": parse_moment,
    "concurrency_key": parse_concurrency_key,
}


def expand(file: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the document that a job file means: each job with the `defaults`, which give way to
    what the job says, without the keys that begin with `x-`. `options` of the command line take
    the place of defaults.
    """
    document = _without_own(file)
    defaults = document.pop("defaults", None) or {}
    if not isinstance(defaults, Mapping):
        raise WrongType.of([FieldError("/defaults", "expected the fields of a job")])
    defaults = {**_without_own(defaults), **(options or {})}
    jobs = document.get("jobs")
    if isinstance(jobs, list):
        document["jobs"] = [
            _job(one, defaults, pointer_of("jobs", index)) if isinstance(one, Mapping) else one
            for index, one in enumerate(jobs)
        ]
    return document


def _without_own(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if not str(key).startswith(OWN)}


def _job(given: Mapping[str, Any], defaults: Mapping[str, Any], at: str) -> dict[str, Any]:
    job = {**defaults, **_without_own(given)}
    for name, value in defaults.items():
        if isinstance(value, Mapping) and isinstance(job[name], Mapping):
            job[name] = {**value, **job[name]}
    if {"command", "script", "function"} & given.keys():
        for name in {"command", "script", "function"} - given.keys():
            job.pop(name, None)
    for name, parse in _PARSERS.items():
        if isinstance(job.get(name), str):
            try:
                job[name] = parse(job[name])
            except ValueError as error:
                raise InvalidValue.of([FieldError(f"{at}/{name}", str(error))]) from error
    return job
