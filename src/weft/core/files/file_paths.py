"""Paths and addresses of files of jobs: what they mean, and which are refused."""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from weft.core.deliveries.callback_url import parse_callback_url
from weft.core.ids import JOB

PATH_BYTES_MAX: Final = 1024
_NAME_BYTES_MAX: Final = 255
_DEPTH_MAX: Final = 64
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


STORE_SCHEME: Final = "store://"
STORE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
"""A name of a store."""


class WrongPath(ValueError):
    """A path or an address that no file of a job has; the text says why."""


class JobFile(NamedTuple):
    """A file that a job has left."""

    batch_id: int | None
    """None: of the same batch."""
    job_id: int
    """0: a parent that `parent` names."""
    parent: str | None
    path: str


class BatchFile(NamedTuple):
    """A file of the batch itself."""

    path: str


class HostFile(NamedTuple):
    """A file of the worker's host."""

    path: str


class StoreFile(NamedTuple):
    """An object in a store of the tenant."""

    store: str
    path: str

    @property
    def address(self) -> str:
        """Return how jobs write it."""
        return f"{STORE_SCHEME}{self.store}/{self.path}"


class UrlFile(NamedTuple):
    """What a web server has at an address."""

    url: str
    path: str
    """The last name in the path of the address, which the file has in the job's directory."""


FileSource = JobFile | BatchFile | HostFile | StoreFile | UrlFile


def parse_source(text: str) -> FileSource:
    """Read the address of an input. Raise `WrongPath`."""
    match = _SCHEME.fullmatch(text)
    if match is None:
        return BatchFile("/".join(parts_of(text)))
    scheme, rest = match[1].lower(), match[2]
    if scheme == "store":  # written as it is: keys of objects may hold a %
        store, path = split_store(text)
        return StoreFile(store, "/".join(parts_of(path)))
    if scheme == "file":
        if not rest.startswith("/"):
            raise WrongPath("a file of the host is written file:///PATH")
        return HostFile("/" + "/".join(parts_of(_unquoted(rest[1:]))))
    if scheme == "weft":
        job, _, path = rest.partition("/")
        return _of_job(_unquoted(job), "/".join(parts_of(_unquoted(path))))
    if scheme in {"http", "https"}:
        return _at_url(text)
    raise WrongPath(
        f"nothing is fetched from {scheme}://; write https://, weft://, store:// or file://"
    )


def _at_url(text: str) -> UrlFile:
    try:
        path = parse_callback_url(text).path
    except ValueError as error:
        raise WrongPath(str(error)) from error
    return UrlFile(text, _unquoted(path.partition("?")[0]).rpartition("/")[2])


def split_store(text: str) -> tuple[str, str]:
    """Return the name of the store and the path in `store://NAME/PATH`. Raise `WrongPath`."""
    store, slash, path = text[len(STORE_SCHEME) :].partition("/")
    if not slash or not STORE.fullmatch(store):
        raise WrongPath("an object of a store is written store://NAME/PATH")
    if len(text.encode(errors="replace")) > PATH_BYTES_MAX:
        raise WrongPath(f"an address has at most {PATH_BYTES_MAX} bytes")
    return store, path


def in_store(text: str | None) -> bool:
    """Say whether this is in a store, or is to be kept there."""
    return text is not None and text[: len(STORE_SCHEME)].lower() == STORE_SCHEME


def _of_job(job: str, path: str) -> JobFile:
    match = JOB.fullmatch(job)
    if match is not None and ("." in job or job.startswith("j")):
        return JobFile(None if match[1] is None else int(match[1]), int(match[2]), None, path)
    if not job:
        raise WrongPath("a file of a job is written weft://b1.j7/PATH or weft://j7/PATH")
    return JobFile(None, 0, job, path)


def _unquoted(text: str) -> str:
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError as error:
        raise WrongPath("it is not UTF-8 when its % are read") from error


def parts_of(text: str) -> tuple[str, ...]:
    """Return the names of a relative path that stays below where it begins. Raise `WrongPath`."""
    parts = tuple(text.split("/"))
    if not text:
        raise WrongPath("the path is empty")
    if "\0" in text:
        raise WrongPath("a path cannot contain NUL")
    if text.startswith("/"):
        raise WrongPath("the path is not relative")
    if match := _SCHEME.fullmatch(text):
        raise WrongPath(f"it is an address: a path does not begin with {match[1]}://")
    if any(part in {"", ".", ".."} for part in parts):
        raise WrongPath("a path has no empty part, and neither . nor ..")
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError as error:
        raise WrongPath("the path is not text in UTF-8") from error
    if max(sizes) > _NAME_BYTES_MAX or sum(sizes) + len(parts) > PATH_BYTES_MAX:
        raise WrongPath(
            f"a path has at most {PATH_BYTES_MAX} bytes, {_NAME_BYTES_MAX} in each part"
        )
    if len(parts) > _DEPTH_MAX:
        raise WrongPath(f"a path has at most {_DEPTH_MAX} parts")
    return parts


def target_of(to: str | None, source: str) -> tuple[str, ...]:
    """Return where a file comes to stand: `to`, or below it if it ends with a slash, or its own
    path. Raise `WrongPath`.
    """
    if to is None:
        return parts_of(source)
    return parts_of(to + source if to.endswith("/") else to)


def fixed_directory(pattern: str) -> str:
    """Return what stands in a pattern before the name with its first wildcard, with a slash at its
    end; empty: nothing does, or it has no wildcard.
    """
    at = next((n for n, char in enumerate(pattern) if has_wildcards(char)), 0)
    return "".join(pattern[:at].rpartition("/")[:2])


def name_of(source: FileSource) -> str:
    """Return the last part of the path of an input."""
    return source.path.rpartition("/")[2]


def has_wildcards(pattern: str) -> bool:
    """Say whether a pattern may match more than one path."""
    return any(mark in pattern for mark in "*?[")
