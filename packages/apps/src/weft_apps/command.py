"""`weft app`: applications, which jobs run with parameters."""

from pathlib import Path
from typing import Annotated

from weft.cli.input.options import SHARED, App, Parameter, Shared
from weft.cli.terminal.plain import moment, one_line
from weft.cli.terminal.screen import Document, at, note, print_columns, print_json, text

app = App(
    name="app",
    help="Add, list, show and remove applications, which jobs run with parameters.\n\n"
    "    weft app add ./wordcount",
)
ForUser = Annotated[str | None, Parameter(name="--for")]


@app.command
def add(folder: Path, /, *, for_user: ForUser = None, shared: Shared = SHARED) -> None:
    """Make a folder with app.json or app.toml an application, or give it other content.

        weft app add ./wordcount

    The same content as before changes nothing. Jobs keep the content with which
    they were submitted. Only for operators.

    Args:
        folder: The folder. An Agave bundle is taken as it is.
        for_user: The user who alone may run it; without it everybody in the tenant.
    """
    found = shared.ask(lambda client: client.add_app(folder, for_user=for_user))
    if shared.json:
        print_json(found)
    elif found["changed"]:
        note(f"application {found['name']} has revision {found['revision']} now")
    else:
        note(f"application {found['name']} has this content already")


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List the applications that you may run.

    weft app ls
    """
    found = shared.ask(lambda client: client.list_apps())
    shared.table(
        found,
        {
            "Name": text("name", 80),
            "Revision": "revision",
            "For": text("for_user", 32, "all"),
            "Added": at("added_at"),
            "Title": text("title", 60),
        },
        spare=("Title", "Added"),
        empty="no applications that you may run; `weft app add FOLDER` adds one",
    )


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show an application, its parameters and its inputs.

        weft app show wordcount-1.0

    Args:
        name: Its name with its version, as `weft app ls` shows it.
    """
    found = shared.ask(lambda client: client.get_app(name))
    if shared.as_json(found):
        return
    described = found["description"]
    print(f"{one_line(found['name'], width=80)}  {one_line(found['title'], width=80)}")
    wrapper = one_line(described["wrapper"], width=80)
    print(f"revision {found['revision']} of {moment(found['added_at'])}; runs {wrapper}")
    if described.get("system"):
        print(f"runs on {one_line(described['system'], width=80)}")
    rest = {
        "Default": _usual,
        "Label": lambda row: one_line(row.get("label", ""), width=40),
    }
    if parameters := described.get("parameters"):
        print_columns(
            {
                "Parameter": "id",
                "Type": lambda row: row.get("type", "string"),
                "Values": lambda row: _cut(
                    ", ".join(row.get("choices", ())) or row.get("pattern")
                ),
                **rest,
            },
            parameters,
            spare=("Label",),
        )
    if inputs := described.get("inputs"):
        print_columns(
            {
                "Input": "id",
                "Files": _count,
                "Values": lambda row: _cut(row.get("pattern")),
                **rest,
            },
            inputs,
            spare=("Label",),
        )


def _cut(text: str | None) -> str:
    return one_line(text or "", width=40)


def _usual(one: Document) -> str:
    """Return the default; a mark stands for what nobody sets."""
    fixed = "" if one.get("visible", True) else " (fixed)"
    return one_line(str(one.get("default") or ""), width=20) + fixed


def _count(one: Document) -> str:
    """Return how many files an input has, as `1-3`."""
    least = max(one.get("least", 0), 1 if one.get("required") else 0)
    most = one.get("most", 1)
    upper = "" if most < 0 else str(max(most, 1))
    return str(least) if upper == str(least) else f"{least}-{upper}"


@app.command(name="rm")
def remove(name: str, /, *, for_user: ForUser = None, shared: Shared = SHARED) -> None:
    """Remove an application: no new job gets it, and its jobs go on.

        weft app rm wordcount-1.0

    Only for operators.

    Args:
        name: Its name with its version, as `weft app ls` shows it.
        for_user: The user who alone may run it; without it the one for everybody.
    """
    shared.ask(lambda client: client.remove_app(name, for_user=for_user))
    shared.tell({"name": name}, f"application {one_line(name, width=80)} is removed")
