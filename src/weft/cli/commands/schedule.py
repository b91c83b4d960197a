"""`weft schedule`: batches that are submitted again and again."""

import os
from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from weft.cli.input.declared import read_file
from weft.cli.input.documents import format_of, parse_document, refuse_queues
from weft.cli.input.job_file import expand, run_in
from weft.cli.input.mistake_lines import point_to_lines
from weft.cli.input.options import SHARED, App, Shared
from weft.cli.terminal.screen import Document, long_text, note, plain, print_columns, print_facts
from weft.core.errors import Invalid
from weft.core.ids import format_batch_id, format_schedule_id, parse_schedule_id

app = App(
    name="schedule",
    help="Submit batches at the times of cron expressions.\n\n    weft schedule ls",
)

_WITHIN = "/document"
_OPTIONS = {"/cron": "CRON", "/time_zone": "--tz", "/missed": "--missed", "/name": "--name"}


@app.command
def add(
    cron: str,
    file: Path,
    /,
    *,
    tz: str = "UTC",
    missed: Literal["skip", "last", "all"] = "skip",
    name: str | None = None,
    shared: Shared = SHARED,
) -> None:
    """Submit the jobs of a file again and again, at the times of a cron expression.

        weft schedule add "0 2 * * *" batch.yaml --tz Europe/Berlin

    The file is read and checked now; later changes of it have no effect.

    Args:
        cron: Minute, hour, day of the month, month and day of the week.
        file: A batch document: YAML, TOML or JSON.
        tz: Time zone whose clock decides, by its IANA name.
        missed: Which of the runs missed while weft was down are made up for: `skip`: none;
            `last`: the last one; `all`: all, up to a limit.
        name: Name of the schedule, instead of the name in the file.
    """
    if os.path.isfile(cron) and not file.exists():  # noqa: PTH113 (`Path` raises if it is long)
        cron, file = str(file), Path(cron)  # they stand the other way round
    body = read_file(file)
    given = parse_document(body, format_of(str(file)), name=str(file))
    refuse_queues(given, str(file))
    document = expand(given, directory=file.parent)
    run_in(file.parent, document, home=shared.home)
    try:
        done = shared.ask(
            lambda client: client.add_schedule(
                cron, document, time_zone=tz, missed=missed, name=name
            )
        )
    except Invalid as error:
        if shared.json or not error.errors:
            raise
        if not all(one.pointer.startswith(_WITHIN) for one in error.errors):
            _name_options(error)
        else:
            error.point(lambda pointer: pointer.removeprefix(_WITHIN))
            point_to_lines(error, file=str(file), body=body, document=given)
        raise
    if not shared.as_json(done):
        print(format_schedule_id(done["schedule_id"]))
        note(f"next run: {_local(done)}")


@app.command(name="ls")
def list_schedules(*, shared: Shared = SHARED) -> None:
    """List the schedules of all users.

    weft schedule ls
    """
    found = shared.ask_all(lambda client: client.list_schedules())
    shared.table(
        found,
        {
            "ID": lambda row: format_schedule_id(row["schedule_id"]),
            "Name": long_text("name", 24),
            "Cron": "cron",
            "Next run": _local,
            "Last": lambda row: _last(row["last_run"]),
            "User": "user",
        },
        empty="no schedules; `weft schedule add` makes one of a file of jobs and a "
        "cron expression",
        spare=("User", "Name"),
    )


@app.command
def show(schedule: str, /, *, shared: Shared = SHARED) -> None:
    """Show a schedule with its newest runs.

        weft schedule show s3

    Args:
        schedule: Id of the schedule.
    """
    found = shared.ask(lambda client: client.get_schedule(parse_schedule_id(schedule)))
    if shared.as_json(found):
        return
    print_facts(
        {
            "schedule": format_schedule_id(found["schedule_id"]),
            "name": found["name"],
            "user": found["user"],
            "billing project": found["billing_project"],
            "cron": found["cron"],
            "time zone": found["time_zone"],
            "missed runs": found["missed"],
            "next run": _local(found),
            "failures": f"{found['n_failures']} in a row",
            "missed": str(found["n_missed"]),
        }
    )
    if found["runs"]:
        print()
        zone = ZoneInfo(found["time_zone"])
        print_columns(
            {
                "Due": lambda row: _at(row["due_at"], zone),
                "Result": _result,
            },
            found["runs"],
        )


@app.command
def pause(schedule: str, /, *, shared: Shared = SHARED) -> None:
    """Pause a schedule: it submits nothing. What is due meanwhile is not missed.

        weft schedule pause s3

    Args:
        schedule: Id of the schedule.
    """
    _change(schedule, shared, paused=True)


@app.command
def resume(schedule: str, /, *, shared: Shared = SHARED) -> None:
    """Resume a paused schedule, from its next time on.

        weft schedule resume s3

    Args:
        schedule: Id of the schedule.
    """
    _change(schedule, shared, paused=False)


@app.command(name="rm")
def remove(schedule: str, /, *, shared: Shared = SHARED) -> None:
    """Remove a schedule. Its batches stay.

        weft schedule rm s3

    Args:
        schedule: Id of the schedule.
    """
    schedule_id = parse_schedule_id(schedule)
    shared.ask(lambda client: client.delete_schedule(schedule_id))
    said = f"schedule {format_schedule_id(schedule_id)} is removed; its batches stay"
    shared.tell({"schedule_id": schedule_id}, said)


@app.command
def run_now(schedule: str, /, *, shared: Shared = SHARED) -> None:
    """Submit the batch of a schedule now, paused or not, and print its id.

        weft schedule run-now s3

    The due times stay as they are.

    Args:
        schedule: Id of the schedule.
    """
    done = shared.ask(lambda client: client.run_schedule(parse_schedule_id(schedule)))
    shared.tell(done, format_batch_id(done["batch_id"]), print)


def _change(schedule: str, shared: Shared, *, paused: bool) -> None:
    schedule_id = parse_schedule_id(schedule)
    found = shared.ask(lambda client: client.change_schedule(schedule_id, paused=paused))
    state = "is paused" if found["next_at"] is None else f"goes on: {_local(found)}"
    shared.tell(found, f"schedule {format_schedule_id(found['schedule_id'])} {state}")


def _name_options(error: Invalid) -> None:
    """Let an error name options instead of fields."""
    error.point(lambda pointer: _OPTIONS.get(pointer, pointer))
    if len(error.errors) == 1:
        error.detail = f"{error.errors[0]}."


def _local(one: Document) -> str:
    """Return the next run by the clock of the schedule."""
    if one["next_at"] is None:
        return {"failures": "paused by failures", "over": "never again"}.get(
            one["pause_reason"], "paused"
        )
    return f"{_at(one['next_at'], ZoneInfo(one['time_zone']))}"


def _at(text: str, zone: ZoneInfo) -> str:
    return datetime.fromisoformat(text).astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")


def _last(run: Document | None) -> str:
    if run is None:
        return ""
    return "refused" if run["batch_id"] is None else format_batch_id(run["batch_id"])


def _result(run: Document) -> str:
    if run["batch_id"] is not None:
        return format_batch_id(run["batch_id"]) + (" by hand" if run["by_hand"] else "")
    error = run["error"]
    return "is being submitted" if error is None else plain(f"refused: {error['message']}")
