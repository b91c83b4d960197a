"""`weft lifecycle`: the statuses of a production line."""

from weft.cli.input.options import SHARED, App, Shared
from weft.cli.terminal.screen import print_table

app = App(
    name="lifecycle",
    help="Show the statuses of a line, and which may follow which.\n\n"
    "    weft lifecycle show hrsi",
)

HEADER = ("Status", "State", "Phase", "May be followed by")


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show the statuses, the states and phases that they belong to, and what may follow.

        weft lifecycle show hrsi

    Args:
        name: Name of the lifecycle.
    """
    found = shared.ask(lambda client: client.get_lifecycle(name))
    if shared.as_json(found):
        return
    everything = set(found["statuses"])
    rows = [("(a new job)", "", "", ", ".join(found["first"]))]
    for word in found["statuses"]:
        after = found["next"][word]
        rows.append(
            (
                word,
                ", ".join(found["core"].get(word, ())),
                ", ".join(phase for phase, status in found["phase"].items() if status == word),
                "any" if set(after) == everything else ", ".join(after),
            )
        )
    print_table(HEADER, rows, spare=("Phase", "State"))


@app.command
def graph(name: str, /, *, shared: Shared = SHARED) -> None:
    """Print the statuses as a graph in the language of Graphviz.

        weft lifecycle graph hrsi

    Args:
        name: Name of the lifecycle.
    """
    found = shared.ask(lambda client: client.get_lifecycle(name))
    if shared.as_json(found):
        return
    lines = [f'  "{word}" [penwidth=2];' for word in found["first"]]
    lines += [
        f'  "{word}" -> "{after}";' for word in found["statuses"] for after in found["next"][word]
    ]
    print("\n".join([f'digraph "{found["lifecycle"]}" {{', *lines, "}"]))
