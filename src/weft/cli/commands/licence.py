"""`weft licence`: what all pools share, such as floating licences of a program."""

from typing import Annotated

from weft.cli.input.options import SHARED, App, Parameter, Shared
from weft.cli.terminal.screen import at, text

app = App(
    name="licence",
    help="Show and set how many licences jobs may use at a time.\n\n    weft licence set matlab 5",
)


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List the licences, and how many of each are used.

    weft licence ls
    """
    found = shared.ask(lambda client: client.list_licences())
    shared.table(
        found,
        {
            "Licence": "licence",
            "Used": lambda row: f"{row['n_used']}/{row['n']}",
            "Set": at("set_at"),
            "By": text("set_by", 64),
        },
        right=("Used",),
        spare=("By", "Set"),
        empty="there is no licence; `weft licence set NAME N` sets one",
    )


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
    above = found["n_used"] - found["n"]
    end = f"; {above} more are used now, until the jobs that have them end" if above > 0 else ""
    shared.tell(found, f"{found['licence']}: {found['n']}{end}")


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
