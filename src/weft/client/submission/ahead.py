"""What jobs get from the program that submits them: its environment; and code and requirements,
which go to the server ahead of the jobs that name them.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from weft.core.access.secret_variables import matches, patterns_of
from weft.core.errors import Invalid
from weft.core.text.texts import is_utf8
from weft.settings import load_client_settings, secret_variables


class CallerEnvironment(NamedTuple):
    """Variables of this process for jobs."""

    variables: dict[str, str]
    not_utf8: list[str]
    """Names of those that cannot be sent."""


def caller_environment(
    *, home: Path | None, left_out: Sequence[str] = ()
) -> CallerEnvironment | None:
    """Return it without weft's own secrets and what `left_out` and the setting `no_env` match.
    None: the setting `clean_env` keeps it here.
    """
    settings = load_client_settings({"home": home})
    if settings.clean_env:
        return None
    own = secret_variables(os.environ)
    patterns = tuple(p for text in (settings.no_env, *left_out) for p in patterns_of(text))
    whole = {
        name: value
        for name, value in os.environ.items()
        if name not in own and not matches(name, patterns)
    }
    sound = {name: value for name, value in whole.items() if is_utf8(name) and is_utf8(value)}
    return CallerEnvironment(sound, sorted(whole.keys() - sound.keys()))


_FIELDS: Final = ("code", "requirements")


class Ahead(dict[str, str]):
    """A field of a job's document that names bytes by their digest."""

    def __init__(self, body: bytes) -> None:
        from hashlib import sha256  # noqa: PLC0415 (5 ms)

        self.digest = sha256(body).hexdigest()
        self.body = body
        super().__init__(digest=self.digest)


def sent_ahead(jobs: Iterable[object]) -> dict[str, bytes]:
    """Return what these jobs need at the server before they are sent, by digest."""
    fields = (job.get(name) for job in jobs if isinstance(job, Mapping) for name in _FIELDS)
    return {one.digest: one.body for one in fields if isinstance(one, Ahead)}


class Packing:
    """Lets jobs name files of a directory: each is read once, however many jobs have it."""

    def __init__(self, directory: Path = Path()) -> None:
        self._directory = directory
        self._code, self._requirements = cache(code_of), cache(requirements_of)

    def fill(self, job: dict[str, Any]) -> None:
        """Put bytes in the place of the files that a job names. Raise `Invalid`."""
        if isinstance(folder := job.get("code"), str | PurePath):
            job["code"] = self._code(self._directory / folder)
        field = job.get("requirements")
        more = dict(field) if isinstance(field, Mapping) else {"file": field}
        if isinstance(file := more.pop("file", None), str | PurePath):
            job["requirements"] = copy(self._requirements(self._directory / file))
            rest = {name: value for name, value in more.items() if value is not None}
            job["requirements"].update(rest)


def code_of(folder: Path) -> Ahead:
    """Return a folder's files: those git tracks in a checkout, else all. Raise `Invalid`."""
    from weft.client.submission.checkouts import CheckoutUnreadable, tracked_files  # noqa: PLC0415 (as below)
    from weft.wire.app_folder import CODE_BYTES_MAX, BadFolder, pack  # noqa: PLC0415 (10 ms)

    hint = "Give a directory with a program; large data travels as `inputs`."
    try:
        os.scandir(folder).close()  # raises for what is no directory
        names = tracked_files(folder)
        if names is None:
            hint = f"{hint} All files travel, as it is no git checkout: of one, those it tracks."
        return Ahead(pack(folder, names, bytes_max=CODE_BYTES_MAX))
    except (BadFolder, OSError) as error:
        if isinstance(error, CheckoutUnreadable):
            hint = "Make git list it (`git ls-files`, `git add`), or give a copy without `.git`."
        raise _cannot_travel(f"the code {str(folder)!r}", error, hint) from error


def requirements_of(file: Path) -> Ahead:
    """Return what a requirements file or a `uv.lock` names. Raise `Invalid`."""
    from weft.wire.requirements import BYTES_MAX, plain_requirements  # noqa: PLC0415 (few need it)

    try:
        with file.open("rb") as source:
            text = _exported(file) if file.name == "uv.lock" else source.read(BYTES_MAX + 1)
        return Ahead(plain_requirements(text))
    except (ValueError, OSError) as error:
        hint = "Give lines such as numpy==2.1.0; your own modules travel as `code`."
        raise _cannot_travel(f"the requirements {str(file)!r}", error, hint) from error


def _cannot_travel(what: str, error: Exception, hint: str) -> Invalid:
    why = str(getattr(error, "strerror", error))
    detail = f"{why[:1].upper()}{why[1:]}."
    return Invalid(f"{what} cannot travel", detail=detail, hint=hint)


def _exported(lock: Path) -> bytes:
    """Return the requirements that a lock of uv means. Raise `ValueError`, `OSError`."""
    import subprocess  # noqa: PLC0415 (few need it)

    command = ["uv", "export", "--frozen", "--no-emit-project", "--format", "requirements-txt"]
    try:
        return subprocess.run(command, cwd=lock.parent, capture_output=True, check=True).stdout
    except FileNotFoundError as error:
        raise ValueError("only the program uv reads its lock, and it is not here") from error
    except subprocess.CalledProcessError as error:
        raise ValueError(f"uv says: {error.stderr.decode(errors='replace')[-400:]}") from error
