"""`weft source`: what production lines read, and the items that they found."""

import re
import shlex
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from weft.cli.commands.why import print_causes
from weft.cli.input.options import SHARED, App, Flag, Parameter, Shared, WrongOption, in_our_zone
from weft.cli.terminal.interrupts import ask, need_person
from weft.cli.terminal.screen import Document, at, cell, long_text, note, print_columns, print_json
from weft.core.errors import SourceNotFound
from weft.core.ids import parse_job_ref
from weft.core.text.amounts import counted

app = App(
    name="source",
    help="Show what production lines read, and what they found.\n\n    weft source ls",
)

_BEFORE = re.compile(r"it waits for (b\d+\.j\d+)(?: of series|, its own)")
State = Literal["new", "waiting", "ready", "job", "cancelled", "refused"]
ITEMS = 50


@app.command(name="ls")
def list_sources(*, shared: Shared = SHARED) -> None:
    """List the sources.

    weft source ls
    """
    found = shared.ask_all(lambda client: client.list_sources())
    shared.table(
        found,
        {
            "Source": "source",
            "Kind": "kind",
            "State": "state",
            "Read": at("read_at"),
            "User": "user",
            "Error": long_text("error", 60),
        },
        empty="no sources that you see; `[source.NAME]` in a file of `weft line apply` makes one",
        spare=("User", "Kind"),
    )


@app.command
def items(
    source: str,
    /,
    *,
    state: State | None = None,
    limit: Annotated[int, Parameter(name=("--limit", "-n"))] = ITEMS,
    shared: Shared = SHARED,
) -> None:
    """List what a source has found, the newest first, with jobs or reasons.

        weft source items scenes --state refused

    Args:
        source: Name of the source.
        state: Only items in this state.
        limit: How many; 0: all.
    """
    listing = shared.ask_all(lambda client: client.list_source_items(source, state=state), limit)
    print_items(listing, shared)


@app.command
def why(source: str, key: str, /, *, shared: Shared = SHARED) -> int:
    """Say why an item has no job, or why its job waits.

        weft source why scenes S2A_32TLR

    Args:
        source: Name of the source.
        key: Key of the item.
    """

    async def read(client: Any) -> Document:  # noqa: ANN401 (the client of any command)
        known = await client.get_source(source)
        found = await client.list_source_items(source, key=key).next_page()
        if not found:
            raise SourceNotFound(
                f"source {source} has found no {key!r}",
                detail=f"It was last read at {known['read_at'] or 'no time'}.",
                hint=f"`weft source items {source}` shows what it has found.",
            )
        (item,) = found
        if item["job"] is None:
            return {**item, "causes": _causes(item, known)}
        batch_id, job_id = parse_job_ref(item["job"])
        answer = await client.why_job(batch_id, job_id)
        return {**item, "causes": answer["causes"]}

    found = shared.ask(read)
    if not shared.as_json(found):
        print_causes(found, found["job"] or found["key"])
    return 0


def _causes(item: Document, source: Document) -> list[Document]:
    """Return why an item without a job has none, what is first to change first."""
    name = source["source"]
    if item["state"] in {"cancelled", "refused"}:
        again = f"weft source replay {name} {shlex.quote(item['key'])}"
        return [{"text": f"is {item['state']}: {item['reason']}", "command": again}]
    causes: list[Document] = []
    if source["paused_at"] is not None:
        causes.append(
            {"text": "waits: its source is paused", "command": f"weft source resume {name}"}
        )
    if item["reason"]:
        before = _BEFORE.search(item["reason"])
        command = None if before is None else f"weft why {before[1]}"
        causes.append({"text": f"waits: {item['reason']}", "command": command})
    if source["error"] is not None:
        causes.append(
            {"text": f"may wait for its source, which says: {source['error']}", "command": None}
        )
    return causes or [{"text": "was just found: its job is being made", "command": None}]


@app.command(name="test")
def try_source(source: str, /, *, shared: Shared = SHARED) -> int:
    """Read a source once from the host of the api: what it gives, and the jobs that would be made
    of it. Nothing is kept. Exit with 1 if it cannot be read, or an item would be refused.

        weft source test scenes

    Args:
        source: Name of the source.
    """
    answer = shared.ask(lambda client: client.test_source(source))
    refused = [item for item in answer["items"] if item["state"] == "refused"]
    if shared.json:
        print_json(answer)
        return 1 if answer["error"] or refused else 0
    print_columns(
        {
            "Key": long_text("key", 60),
            "Known": lambda row: row["known"] or "",
            "Would be": "state",
            "Job or reason": lambda row: cell(row["reason"] or _command_of(row["job"]), width=60),
        },
        answer["items"],
    )
    if answer["error"]:
        note(f"it cannot be read: {answer['error']}")
    elif answer["n_items"] > len(answer["items"]) or answer["more"]:
        note("there is more; these are the first")
    return 1 if answer["error"] or refused else 0


def _command_of(job: Document | None) -> str:
    command = (job or {}).get("command") or (job or {}).get("script") or ""
    return command if isinstance(command, str) else " ".join(map(str, command))


@app.command
def pause(source: str, /, *, shared: Shared = SHARED) -> int:
    """Pause a source: it is not read, and its items get no jobs.

        weft source pause scenes

    Args:
        source: Name of the source.
    """
    return _changed(source, shared, "is paused", paused=True)


@app.command
def resume(source: str, /, *, shared: Shared = SHARED) -> int:
    """Let a source go on.

        weft source resume scenes

    Args:
        source: Name of the source.
    """
    return _changed(source, shared, "goes on", paused=False)


@app.command
def replay(
    source: str,
    key: str | None = None,
    /,
    *,
    since: datetime | None = None,
    yes: Flag = False,
    shared: Shared = SHARED,
) -> int:
    """Let an item become a job once more; or all that a source found since a date, and read it
    again. That is asked first, with the number of items.

        weft source replay scenes S2A_32TLR
        weft source replay scenes --since 2027-01-01

    Args:
        source: Name of the source.
        key: Key of the item.
        since: A date, or a date with a time; without a zone, that of this host.
        yes: Do not ask.
    """
    if key is not None and since is None:
        return _changed(source, shared, f"runs {key} again", replay_item=key)
    if since is None or key is not None:
        raise WrongOption("which items?", hint="Write the key of one, or `--since DATE`.")
    refused = f"--since {since.isoformat()} is no time on this host"
    start = in_our_zone(since, refused)
    date = start.isoformat()
    if not yes and (code := _ask_to_replay(source, start, shared)):
        return code
    return _changed(source, shared, f"begins again from {date}", replay_since=date)


def _ask_to_replay(source: str, since: datetime, shared: Shared) -> int:
    """Say how many items run again, and ask; return 0 if it is meant, else the exit code."""

    async def count(client: Any) -> int:  # noqa: ANN401 (the client of any command)
        n_items = 0
        async for item in client.list_source_items(source):
            if datetime.fromisoformat(item["found_at"]) < since:
                break
            n_items += item["state"] in {"job", "cancelled", "refused"}
        return n_items

    items = counted(shared.ask(count), "item")
    become = "becomes a job" if items.startswith("1 ") else "become jobs"
    what = f"{items} of source {source} {become} once more"
    need_person(what)
    return ask(f"{what}. Go on?", otherwise="nothing runs again")


def _changed(source: str, shared: Shared, what: str, **patch: Any) -> int:  # noqa: ANN401 (of several types)
    answer = shared.ask(lambda client: client.change_source(source, **patch))
    return shared.tell(answer, f"source {source} {what}")


def print_items(found: Sequence[Document], shared: Shared) -> None:
    """Print what sources have found."""
    shared.table(
        found,
        {
            "Key": long_text("key", 60),
            "Job": lambda row: row["job"] or "",
            "State": "state",
            "Found": at("found_at"),
            "Reason": lambda row: cell(row["reason"] or "it came late" * row["late"], width=60),
        },
        spare=("Found",),
    )
