"""Files that describe all things of one kind, such as queues: read them, and apply them."""

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weft.cli.input.documents import FORMATS, UnreadableDocument, able_to, parse_document
from weft.cli.input.mistake_lines import point_to_lines
from weft.cli.input.options import Flag, Local, Shared
from weft.cli.input.signature import Parameter
from weft.cli.input.toml_lines import toml_lines
from weft.cli.terminal.interrupts import ask, need_person
from weft.cli.terminal.plain import plain, wrapped
from weft.cli.terminal.report import note
from weft.client.api import Api
from weft.core.errors import Invalid
from weft.core.text.amounts import counted

Document = Mapping[str, Any]
_SIGNS = {"create": "+", "change": "~", "delete": "-"}


def read_file(file: Path) -> bytes:
    """Return what a file holds. Raise `UnreadableDocument`."""
    with able_to(f"read {file}", "Name a file that you can read."):
        return file.read_bytes()


class NothingDescribed(Invalid, code="CLI.NOTHING_DESCRIBED"):
    """The file describes nothing, so applying it deletes everything."""

    advice = "Name the right file; if all of them are to go, add --delete-all."


def tables_in(
    file: Path, body: bytes, kind: str, *, example: str, otherwise: str
) -> Sequence[Document]:
    """Return the tables `[[kind]]` of a TOML file. Raise `UnreadableDocument`."""
    if FORMATS.get(file.suffix.lower(), "toml") != "toml":
        raise UnreadableDocument(
            f"{file} is not a file of {kind}s",
            detail=f"{kind.capitalize()}s are written in TOML.",
            hint=otherwise,
        )
    document = parse_document(body, "toml", name=str(file))
    found = document.get(kind, [])
    hint = f"Write [[{kind}]], and below it {example}."
    others = [name for name in document if name != kind]
    if others or not isinstance(found, list):
        name = others[0] if others else kind
        line = toml_lines(body.decode()).get((name,)) or toml_lines(body.decode()).get((name, "0"))
        raise UnreadableDocument(
            f"{file} does not describe {kind}s",
            detail=f"{file}:{line}: it has {name!r}, but only tables [[{kind}]] belong there.",
            hint=hint,
        )
    return found


def refuse_nothing(file: Path, kind: str, tables: Sequence[Document]) -> None:
    """Refuse a file without tables. Raise `NothingDescribed`."""
    if not tables:
        raise NothingDescribed(
            f"{file} describes no {kind}s",
            detail=f"It has no table [[{kind}]], so all {kind}s would be deleted.",
        )


@contextmanager
def placed(file: Path, body: bytes, document: Document, shared: Local) -> Iterator[None]:
    """Make errors name what is wrong in the file; a program finds it by its pointer."""
    try:
        yield
    except Invalid as error:
        if not shared.json:
            point_to_lines(error, file=str(file), body=body, document=document)
        raise


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Applying:
    """How a file that describes all things of a kind is applied."""

    dry_run: Flag = False
    """Only show the difference."""

    yes: Flag = False
    """Do not ask."""

    delete_all: Flag = False
    """Accept a file that describes none."""


ASKED: Final = Applying()


def apply_file(
    file: Path,
    kind: str,
    save: Callable[[Api, Sequence[Document]], Callable[..., Awaitable[Document]]],
    shared: Shared,
    how: Applying,
    *,
    example: str,
    otherwise: str,
    note_done: str,
    text: Callable[[object], str] | None = None,
) -> int:
    """Show how all things of a kind differ from what a file describes, ask, and change them;
    return the exit code. `text`: how values are written, `text_of` by default.
    """
    body = read_file(file)
    tables = tables_in(file, body, kind, example=example, otherwise=otherwise)
    if not how.delete_all:
        refuse_nothing(file, kind, tables)

    async def apply(client: Api) -> int:
        change = save(client, tables)
        planned = await change(dry_run=True)
        if not shared.json:
            print_changes(planned, kind, text or text_of)
        if how.dry_run or not planned["changes"]:
            shared.as_json(planned)
            return 0
        if not how.yes:
            need_person(f"changing {kind}s needs a confirmation")
            if code := ask(f"Change the {kind}s?", otherwise="nothing was changed"):
                return code
        return shared.tell(await change(), note_done)

    with placed(file, body, {f"{kind}s": tables}, shared):
        return shared.ask(apply)


def print_changes(planned: Document, kind: str, text: Callable[[object], str]) -> None:
    """Show what would change."""
    if not planned["changes"]:
        note(f"the {kind}s are like this already")
    for pool in planned.get("new_pools", ()):
        print(f"+ pool {plain(pool)}")
    for change in planned["changes"]:
        print(f"{_SIGNS[change['kind']]} {kind} {plain(change[kind])}")
        for field, (before, after) in change["fields"].items():
            was = "" if change["kind"] == "create" else f"{text(before)} → "
            line = plain(f"{field}: {was}{text(after)}")
            print(wrapped(line, sys.stdout, first=" " * 4, rest=" " * 6))
    for one in planned.get("surplus", ()):
        more = one["n_machines"] - one["max_workers"]
        note(
            f"pool {one['pool']} has {counted(one['n_machines'], 'machine')}, {more} more than "
            "its new maximum; no job is stopped, they go as their jobs end"
        )


def text_of(value: object) -> str:
    """Write the value of a field for a person."""
    if value is None:
        return "none"
    if isinstance(value, list):
        comma = "; " if any(isinstance(part, Mapping) for part in value) else ", "
        return comma.join(map(text_of, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {text_of(one)}" for name, one in value.items()) or "none"
    return str(value)
