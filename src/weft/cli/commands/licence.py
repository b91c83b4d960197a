"""`weft licence`: what all pools share, such as floating licences of a program."""

from typing import Annotated

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.signature import App, Parameter
from weft.cli.terminal.amounts import moment
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_table

app = App(
    name="licence",
    help="Show and set how many licences jobs may use at a time.\n\n    weft licence set matlab 5",
)

HEADER = ("Licence", "Used", "Set", "By")


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List the licences, and how many of each are used.

    weft licence ls
    """
    found = shared.ask(lambda client: client.list_licences())
    if shared.as_json(found):
        return
    rows = [
        (
            one["licence"],
            f"{one['n_used']}/{one['n']}",
            moment(one["set_at"]),
            one_line(one["set_by"], width=64),
        )
        for one in found
    ]
    empty = "there is no licence; `weft licence set NAME N` sets one"
    print_table(HEADER, rows, right=("Used",), spare=("By", "Set"), empty=empty)


@app.command(name="set")
def set_(name: str, n: Annotated[int, Parameter(name="N")], /, *, shared: Shared = SHARED) -> None:
    """Set how many licences jobs may use at a time, in all pools together.

        weft licence set matlab 5

    A job asks for them in its resources: {"cpu": 1, "matlab": 2}. If jobs have
    more than N now, they go on and no other gets one. Only for administrators.

    Args:
        name: Name of the licence.
        n: How many there are.
    """
    found = shared.ask(lambda client: client.set_licence(name, n))
    if shared.as_json(found):
        return
    above = found["n_used"] - found["n"]
    end = f"; {above} more are used now, until the jobs that have them end" if above > 0 else ""
    note(f"{found['licence']}: {found['n']}{end}")


@app.command(name="rm")
def remove(name: str, /, *, shared: Shared = SHARED) -> None:
    """Forget a licence: jobs cannot ask for it any more.

        weft licence rm matlab

    Jobs that have it go on; jobs that wait for it wait until it is set again.
    Only for administrators.

    Args:
        name: Name of the licence.
    """
    shared.ask(lambda client: client.remove_licence(name))
    shared.tell({"licence": name}, f"licence {name} is removed")
