"""Find the files that an attempt has left, whatever it has put into its directory."""

import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from weft.core.file_paths import WrongPath, has_wildcards, parts_of, target_of
from weft.ports.file_store import FileMissing, FileRefused
from weft.wire.file_documents import FileOutput
from weft.wire.walking import NotPlain, entered, open_file, opened_directory

_DEEP: Final = "**"
_LOOKED_AT: Final = 20
"""Names that are looked at for one that may be kept."""


class FoundFile(NamedTuple):
    """A plain file in the job's directory, when it was looked at."""

    source: str
    target: str
    """By which path it is to be kept."""
    n_bytes: int


def find_outputs(
    work: Path, outputs: Sequence[FileOutput], *, files_max: int, bytes_max: int
) -> list[FoundFile]:
    """Return the files of these outputs. Raise `FileMissing` for one that has none, `FileRefused`
    for what is no plain file or too much.
    """
    found: dict[str, FoundFile] = {}
    budget = [files_max * _LOOKED_AT]
    with opened_directory(work) as top:
        for output in outputs:
            n_before = len(found)
            for source, n_bytes in _matching(top, output.from_.removesuffix("/"), budget):
                target = _target(output, source)
                known = found.setdefault(target, FoundFile(source, target, n_bytes))
                if known.source != source:
                    raise FileRefused(f"two of its outputs would be {target!r}")
                if len(found) > files_max:
                    raise FileRefused(f"more than {files_max} files (output_files_max)")
            if len(found) == n_before and not _has_all(found, output):
                raise FileMissing(f"its output {output.from_!r} is missing")
    if (total := sum(one.n_bytes for one in found.values())) > bytes_max:
        raise FileRefused(
            f"its outputs have {total} bytes, at most {bytes_max} (output_bytes_max)"
        )
    return list(found.values())


@contextmanager
def opened_output(work: Path, source: str, *, owner: int | None) -> Iterator[int]:
    """Open a file that was found. Raise `FileMissing`, `FileRefused`."""
    parts = parts_of(source)
    try:
        with opened_directory(work) as top, entered(top, parts[:-1]) as directory:
            fd = open_file(parts[-1], directory, owner=owner)
    except FileNotFoundError as error:
        raise FileMissing(f"its output {source!r} was removed") from error
    except NotPlain as error:
        raise FileRefused(f"its output {source!r} is refused: {error.strerror}") from error
    except OSError as error:
        why = error.strerror
        raise FileRefused(f"its output {source!r} cannot be read: {why}") from error
    try:
        yield fd
    finally:
        os.close(fd)


def _has_all(found: dict[str, FoundFile], output: FileOutput) -> bool:
    """Say whether another output has brought what this one names."""
    pattern = output.from_.removesuffix("/")
    return any(fnmatch.fnmatchcase(one.source, pattern) for one in found.values())


def _target(output: FileOutput, source: str) -> str:
    to = output.to
    if to is not None and not to.endswith("/") and source != output.from_.removesuffix("/"):
        to += source.removeprefix(output.from_.removesuffix("/"))  # of a directory
        return "/".join(parts_of(to))
    try:
        return "/".join(target_of(to, source))
    except WrongPath as error:
        raise FileRefused(f"its output {source!r} cannot be kept: {error}") from error


def _matching(top: int, pattern: str, budget: list[int]) -> Iterator[tuple[str, int]]:
    parts = pattern.split("/")
    while parts[-2:] == [_DEEP, "*"]:  # the same, and each directory is looked through once
        parts.pop()
    yield from _walk(top, parts, (), budget)


def _walk(
    directory: int, pattern: Sequence[str], at: tuple[str, ...], budget: list[int]
) -> Iterator[tuple[str, int]]:
    """Yield the files below an open directory that match; links are not followed."""
    first, rest = pattern[0], pattern[1:]
    is_deep = first == _DEEP
    if is_deep and rest:
        yield from _walk(directory, rest, at, budget)
    for name in _names(directory, first, budget):
        if not is_deep and not fnmatch.fnmatchcase(name, first):
            continue
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        path = (*at, name)
        if stat.S_ISDIR(status.st_mode):
            _check_name(path)
            with entered(directory, [name]) as opened:
                yield from _walk(opened, pattern if is_deep else rest or [_DEEP], path, budget)
        elif rest:
            continue  # matched as a directory only
        elif not stat.S_ISREG(status.st_mode):
            raise FileRefused(f"its output {'/'.join(path)!r} is no plain file")
        else:
            _check_name(path)
            yield "/".join(path), status.st_size


def _names(directory: int, pattern: str, budget: list[int]) -> Iterator[str]:
    if pattern != _DEEP and not has_wildcards(pattern):
        try:
            os.stat(pattern, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return
        yield pattern
        return
    names = []
    with os.scandir(directory) as entries:
        for entry in entries:
            budget[0] -= 1
            if budget[0] < 0:
                raise FileRefused("it left too many files to look through (output_files_max)")
            names.append(entry.name)
    yield from sorted(names)


def _check_name(parts: tuple[str, ...]) -> None:
    path = "/".join(parts)
    try:
        parts_of(path)
    except WrongPath as error:
        raise FileRefused(f"its output {path!r} cannot be kept: {error}") from error
