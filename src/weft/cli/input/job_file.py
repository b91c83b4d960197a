"""What a job file may say besides the document of `POST /v1/batches`: defaults, keys of the user's
own, durations in words, times from now, keys as text, the values of an array in a file; and the
directory in which its jobs run, and its parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weft.cli.input.file_parameters import PARAMETERS, FileParameters
from weft.cli.input.job_document import current_directory
from weft.cli.input.limit_options import parse_concurrency_key, parse_moment, parse_rate
from weft.client.http.address import Locator
from weft.client.submission.ahead import Packing
from weft.core.errors import InvalidValue, WeftError, WrongType
from weft.core.problems import Problems, pointer_of
from weft.core.text.durations import parse_seconds
from weft.wire.mistakes import word_of

OWN = "x-"
_WHAT_RUNS: Final = frozenset({"command", "script", "function", "simulation"})
_RUN_ALWAYS: Final = frozenset({"wait", "service"})
_PROGRAMS: Final = ("command", "script")
_OWN_DIRECTORY: Final = frozenset(
    {"app", "code", "container", "inputs", "outputs", "function", "service", "simulation", "wait"}
)
"""What brings a directory of its own for the job, or what no directory may stand beside."""
VALUES_FILE: Final = "values_file"
_PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    "timeout_s": parse_seconds,
    "not_before": parse_moment,
    "deadline": parse_moment,
    "concurrency_key": parse_concurrency_key,
    "rate": parse_rate,
}


def expand(
    file: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    *,
    directory: Path = Path(),
    settings: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the document that a job file means: each job with the `defaults`, which give way to
    what the job says, without the keys that begin with `x-`. `options` of the command line take
    the place of defaults, and `--no-cache` that of what jobs say. `directory`: where a relative
    `values_file` is. `settings`: values of its parameters, as `NAME=VALUE`.

    Raise `InvalidDocument` with all that is wrong with it as a file, and then also with each field
    of a wrong name or type: nobody wants to hear of them one after the other.
    """
    problems = Problems()
    whole = _without_own(file)
    parameters = FileParameters(whole.pop(PARAMETERS, None) or {}, settings, problems)
    document: dict[str, Any] = parameters.fill(whole)
    variables = parameters.variables
    defaults = document.pop("defaults", None) or {}
    if not isinstance(defaults, Mapping):
        problems.add(WrongType, "/defaults", f"expected a mapping, got {word_of(defaults)}")
        defaults = {}
    defaults = _merged(_without_own(defaults), options or {})
    forced = {"cache": "off"} if (options or {}).get("cache") == "off" else {}
    jobs = document.get("jobs")
    if isinstance(jobs, list):
        document["jobs"] = [
            _job(
                {**one, **forced},
                defaults,
                pointer_of("jobs", index),
                directory,
                problems,
                variables,
            )
            if isinstance(one, Mapping)
            else one
            for index, one in enumerate(jobs)
        ]
        packing = Packing(directory)
        for job in document["jobs"]:
            if isinstance(job, dict):
                packing.fill(job)
    if problems.found:
        from weft.wire.documents.batches import BatchDocument  # noqa: PLC0415 (30 ms)
        from weft.wire.mistakes import check_types  # noqa: PLC0415

        check_types(document, BatchDocument, "", problems)
    problems.raise_any()
    return document


def directory_of(file: str) -> Path:
    """Return the directory of a job file; the caller's for standard input, a pipe and the like."""
    is_stream = file == "-" or file.startswith("/dev/") or not Path(file).is_file()
    return Path() if is_stream else Path(file).parent


def run_in(directory: Path, document: Mapping[str, Any], *, home: Path | None) -> None:
    """Let the jobs of an expanded file run in its directory, as those of `weft run` do in the
    caller's, if the server is that of this home, and so on this host. A job with a `cwd` keeps
    it (null: an empty directory of its own), and so does one that has files, code or an image.
    """
    jobs = document.get("jobs")
    jobs = [
        job
        for job in (jobs if isinstance(jobs, list) else ())
        if isinstance(job, dict)
        and any(job.get(name) is not None for name in _PROGRAMS)
        and "cwd" not in job
        and all(job.get(name) is None for name in _OWN_DIRECTORY)
    ]
    if jobs and _is_server_here(home):
        cwd = str(Path(current_directory(), directory))
        for job in jobs:
            job["cwd"] = cwd


def _is_server_here(home: Path | None) -> bool:
    try:
        return Locator(home=home).locate().lock is not None
    except WeftError:  # there is none, or nobody knows: whoever asks it says so
        return False


def _without_own(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if not str(key).startswith(OWN)}


def _merged(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return both; of a mapping within both, such as `resources`, also what only one has."""
    merged = {**defaults, **given}
    for name, value in defaults.items():
        if isinstance(value, Mapping) and isinstance(merged[name], Mapping):
            merged[name] = {**value, **merged[name]}
    return merged


def _job(
    given: Mapping[str, Any],
    defaults: Mapping[str, Any],
    at: str,
    directory: Path,
    problems: Problems,
    variables: Mapping[str, str],
) -> dict[str, Any]:
    job = _merged(defaults, _without_own(given))
    if _WHAT_RUNS & given.keys():
        for name in _WHAT_RUNS - given.keys():
            job.pop(name, None)
    if _RUN_ALWAYS & given.keys() and "cache" not in given:
        job.pop("cache", None)
    if variables and any(job.get(name) is not None for name in _PROGRAMS):
        own = job.get("env") or {}
        job["env"] = {**variables, **own} if isinstance(own, Mapping) else own
    if VALUES_FILE in job:
        try:
            job["values"] = _values(job, directory)
        except ValueError as error:
            problems.add(InvalidValue, f"{at}/{VALUES_FILE}", str(error))
        del job[VALUES_FILE]
    for name, parse in _PARSERS.items():
        if isinstance(job.get(name), str):
            try:
                job[name] = parse(job[name])
            except ValueError as error:
                problems.add(InvalidValue, f"{at}/{name}", str(error))
                del job[name]
    return job


def _values(job: Mapping[str, Any], directory: Path) -> list[str]:
    """Return the lines of a file that are not empty. Raise `ValueError`."""
    name = job[VALUES_FILE]
    if not isinstance(name, str) or "\0" in name:
        raise ValueError("expected the name of a file with one value per line")
    if job.get("values") is not None:
        raise ValueError("give `values` or `values_file`, not both")
    try:
        text = (directory / name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"cannot read {name!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{name!r} is not UTF-8: byte {error.start}") from error
    values = [line for line in text.split("\n") if line]
    if not values:
        raise ValueError(f"{name!r} has no lines")
    return values
