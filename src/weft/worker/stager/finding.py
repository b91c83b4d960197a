"""Find the files that an attempt has left, whatever it has put into its directory."""

import fnmatch
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from weft.core.bounded import read_json
from weft.core.files import file_paths
from weft.core.files.products import product_at
from weft.core.text.filling import CannotFill, at, filled, names_product
from weft.ports.file_store import FileMissing, FileProblem, FileRefused
from weft.wire.documents.files import ANNOUNCED_BYTES_MAX, ANNOUNCED_MAX, FileOutput
from weft.wire.walking import NotPlain, entered, open_file, opened_directory

_DEEP: Final = "**"
_PIECE_BYTES: Final = 1 << 20
_LOOKED_AT: Final = 20
"""Names that are looked at for one that may be kept."""
_PROBLEMS_MAX, _PROBLEM_CHARS = 100, 1000


class FoundFile(NamedTuple):
    """A plain file in the job's directory, when it was looked at."""

    source: str
    target: str
    """By which path it is to be kept."""
    n_bytes: int
    is_message: bool = False


def find_outputs(
    work: Path,
    outputs: Sequence[FileOutput],
    *,
    files_max: int,
    bytes_max: int,
    folder: Path | None = None,
    product_of: Callable[[str], Mapping[str, Any]] = lambda _: {},
) -> tuple[list[FoundFile], Collection[str]]:
    """Return the files of these outputs, and what is wrong with each that cannot be kept or is
    missing; then nothing is a message. Raise `FileRefused` for too much. `folder`: of the job's
    application, whose files are no optional outputs as long as they are as they were.
    `product_of`: see `product_in`.
    """
    found: dict[str, FoundFile] = {}
    problems: dict[str, None] = {}
    budget = [files_max * _LOOKED_AT]

    def note(problem: str) -> None:
        if len(problems) < _PROBLEMS_MAX:
            problems[problem[:_PROBLEM_CHARS]] = None

    with opened_directory(work) as top:
        for output in outputs:
            is_missing = not output.optional
            pattern = output.from_.removesuffix("/")
            for source, n_bytes, problem in _matching(top, pattern, budget):
                is_missing = False
                if problem:
                    if not output.optional:
                        note(problem)
                    continue
                if output.optional and folder and _is_same(work, folder, source, n_bytes):
                    continue
                try:
                    target = _target(_told(output, source, product_of), source)
                except FileProblem as error:
                    note(str(error))
                    continue
                known = found.setdefault(target, FoundFile(source, target, n_bytes))
                if known.source != source:
                    raise FileRefused(f"two of its outputs would be {target!r}")
                if output.announce:
                    found[target] = known._replace(is_message=True)
                if len(found) > files_max:
                    raise FileRefused(f"more than {files_max} files (output_files_max)")
            if is_missing:
                note(f"its output {output.from_!r} is missing")
    if (total := sum(one.n_bytes for one in found.values())) > bytes_max:
        raise FileRefused(
            f"its outputs have {total} bytes, at most {bytes_max} (output_bytes_max)"
        )
    if sum(one.is_message for one in found.values()) > ANNOUNCED_MAX:
        raise FileRefused(f"it left more than {ANNOUNCED_MAX} messages for its sink")
    if problems:  # a sink gets all messages of a job, or none
        return [one._replace(is_message=False) for one in found.values()], problems
    return list(found.values()), ()


@contextmanager
def opened_output(work: Path, source: str, *, owner: int | None) -> Iterator[int]:
    """Open a file that was found. Raise `FileMissing`, `FileRefused`."""
    parts = file_paths.parts_of(source)
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


def product_in(
    work: Path, products: Sequence[Mapping[str, Any]], owner: int | None, source: str
) -> Mapping[str, Any]:
    """Return the product that a file is, or a part of. A JSON file that none names speaks for
    itself, as messages for sinks do. Raise `FileRefused`, `FileMissing`.
    """
    if (found := product_at(products, source)) is not None:
        return found
    if source.endswith(".json"):
        with opened_output(work, source, owner=owner) as fd:
            text = os.pread(fd, ANNOUNCED_BYTES_MAX + 1, 0)
        with suppress(msgspec.DecodeError):
            message: dict[str, Any] = read_json(text, dict[str, Any])
            return message
    raise FileRefused(
        f"its output {source!r} has no product: no line of WEFT_PRODUCTS has its path as `path`"
    )


def _told(
    output: FileOutput, source: str, product_of: Callable[[str], Mapping[str, Any]]
) -> FileOutput:
    """Return an output with what the product of a file says of where it is kept."""
    if output.to is None or not names_product(output.to):
        return output
    product = product_of(source)

    def value_of(_: str, name: str) -> object:
        if (value := at(product, name)) is None:
            raise CannotFill(f"its product has no {name}")
        return value

    try:
        return msgspec.structs.replace(output, to=filled(output.to, value_of))
    except CannotFill as error:
        raise FileRefused(f"its output {source!r} cannot be kept: {error}") from error


def _target(output: FileOutput, source: str) -> str:
    """Return by which path a file is kept, or at which address."""
    if file_paths.in_store(output.to):
        store, to = file_paths.split_store(output.to or "")
        within = _path(msgspec.structs.replace(output, to=to or None), source)
        target = file_paths.StoreFile(store, within).address
        if len(target.encode()) > file_paths.PATH_BYTES_MAX:
            raise FileRefused(f"its output {source!r} would have too long an address")
        return target
    return _path(output, source)


def _path(output: FileOutput, source: str) -> str:
    to = output.to
    try:
        if to is not None and not to.endswith("/") and source != output.from_.removesuffix("/"):
            to += source.removeprefix(output.from_.removesuffix("/"))  # of a directory
            return "/".join(file_paths.parts_of(to))
        if to is not None and output.strip:
            source = source.removeprefix(file_paths.fixed_directory(output.from_))
        return "/".join(file_paths.target_of(to, source))
    except file_paths.WrongPath as error:
        raise FileRefused(f"its output {source!r} cannot be kept: {error}") from error


def _is_same(work: Path, folder: Path, source: str, n_bytes: int) -> bool:
    """Say whether a file is as the application brought it."""
    own = folder / source
    try:
        status = own.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size != n_bytes:
            return False
        with opened_output(work, source, owner=None) as fd, own.open("rb") as other:
            offset = 0
            while piece := other.read(_PIECE_BYTES):
                if os.pread(fd, len(piece), offset) != piece:
                    return False
                offset += len(piece)
    except (OSError, FileProblem):
        return False
    return True


def _matching(top: int, pattern: str, budget: list[int]) -> Iterator[tuple[str, int, str]]:
    parts = pattern.split("/")
    while parts[-2:] == [_DEEP, "*"]:  # the same, and each directory is looked through once
        parts.pop()
    yield from _walk(top, parts, (), budget)


def _walk(
    directory: int, pattern: Sequence[str], at: tuple[str, ...], budget: list[int]
) -> Iterator[tuple[str, int, str]]:
    """Yield the files below an open directory that match, with what is wrong with those that
    cannot be kept; links are not followed.
    """
    first, rest = pattern[0], pattern[1:]
    is_deep = first == _DEEP
    if is_deep and rest:
        yield from _walk(directory, rest, at, budget)
    for name in _names(directory, first, budget):
        if not is_deep and name != first and not fnmatch.fnmatchcase(name, first):
            continue
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        path = (*at, name)
        is_directory = stat.S_ISDIR(status.st_mode)
        if rest and not is_directory:
            continue  # matched as a directory only
        problem = _problem_of("/".join(path), status)
        if is_directory and not problem:
            with entered(directory, [name]) as opened:
                below = pattern if is_deep else rest or [_DEEP]
                yield from _walk(opened, below, path, budget)
        else:
            yield "/".join(path), status.st_size, problem


def _names(directory: int, pattern: str, budget: list[int]) -> Iterator[str]:
    # `a[1]` does not match itself: what has exactly that name is meant.
    if not file_paths.has_wildcards(pattern) or not fnmatch.fnmatchcase(pattern, pattern):
        with suppress(FileNotFoundError):
            os.stat(pattern, dir_fd=directory, follow_symlinks=False)
            yield pattern
            return
        if not file_paths.has_wildcards(pattern):
            return
    names = []
    with os.scandir(directory) as entries:
        for entry in entries:
            budget[0] -= 1
            if budget[0] < 0:
                raise FileRefused("it left too many files to look through (output_files_max)")
            names.append(entry.name)
    yield from sorted(names)


def _problem_of(path: str, status: os.stat_result) -> str:
    """Say why something is not kept under this name; empty: it is a file or a directory."""
    try:
        file_paths.parts_of(path)
    except file_paths.WrongPath as error:
        return f"its output {path!r} cannot be kept: {error}"
    is_plain = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
    return "" if is_plain else f"its output {path!r} is no plain file"
