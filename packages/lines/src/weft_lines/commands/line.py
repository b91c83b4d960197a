"""`weft line`: the file of a production line, and the statuses of its jobs."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, Literal

from weft.cli.input.declared import placed, print_changes, read_file, text_of
from weft.cli.input.documents import parse_document
from weft.cli.input.line_texts import with_texts
from weft.cli.input.options import SHARED, App, Flag, Parameter, Shared, WrongOption, read_option
from weft.cli.terminal.deliveries import DELIVERY
from weft.cli.terminal.interrupts import ask, need_person
from weft.cli.terminal.production_lines import SINK, SOURCE, STATUS
from weft.cli.terminal.screen import note, plain, print_columns, print_table
from weft.core.bounded import read_json, read_toml
from weft.core.deliveries.sinks import unsent
from weft.core.ids import format_job_ref, parse_job_ref
from weft.core.text.amounts import counted
from weft.wire.answers.sinks import GIVEN_UP_MAX

app = App(
    name="line",
    help="Apply files of production lines, see how they are, and set statuses.\n\n"
    "    weft line apply hrsi.toml",
)


@app.command
def apply(
    file: Path,
    /,
    *,
    name: Annotated[str | None, Parameter(name="--name")] = None,
    dry_run: Flag = False,
    shared: Shared = SHARED,
) -> None:
    """Apply a file: it is taken whole, or refused whole with line and field.

        weft line apply hrsi.toml

    New batches get its lifecycles; jobs keep those that they have. A text "@NAME"
    of a query, a message or a schema is that of the file NAME beside it. Only for
    operators.

    Args:
        file: The TOML file.
        name: Name of the line; the file's without `.toml` if it is missing.
        dry_run: Check it, and only show what would be added, changed and removed.
    """
    (text, naming), setup = _text_of(file, shared), name or file.stem
    sinks = shared.ask(lambda client: client.line_overview())["sinks"]
    with naming:
        answer = shared.ask(
            lambda client: (
                client.test_setup(setup, document=text, read=False)
                if dry_run
                else client.save_setup(setup, text)
            )
        )
    if not dry_run:
        changed = ", ".join(answer["changed"])
        told = f"changed: {changed}" if changed else "nothing changed"
        shared.tell(answer, f"line {setup}: {told}")
    elif not shared.as_json(answer):
        print_changes(answer, "part", text_of)
    kept = read_toml(text).get("sink", {})
    _tell_of_messages(shared, setup, [sink for sink in sinks if sink["sink"] not in kept])


def _text_of(file: Path, shared: Shared) -> tuple[str, AbstractContextManager[None]]:
    """Return the text of a line, and what makes errors name their lines in it."""
    body = read_file(file)
    document = parse_document(body, "toml", name=str(file))
    text = with_texts(body.decode("utf-8-sig"), file.parent)
    return text, placed(file, body, document, shared)


@app.command(name="test")
def try_line(
    file: Path,
    /,
    *,
    name: Annotated[str | None, Parameter(name="--name")] = None,
    item: str | None = None,
    product: str | None = None,
    shared: Shared = SHARED,
) -> int:
    """Show what a file would make of an item of each source: the job, and the messages that its
    sinks would be told. Nothing is kept or sent. Exit with 1 if something would be refused. Only
    for operators.

        weft line test hrsi.toml
        weft line test hrsi.toml --item '{"key": "S2A_32TLR", "tile": "32TLR"}'

    Args:
        file: The TOML file.
        name: Name of the line; the file's without `.toml` if it is missing.
        item: An item as JSON, instead of the first one that a source reads.
        product: A product as JSON, for messages that are made of products.
    """
    (text, naming), setup = _text_of(file, shared), name or file.stem
    more = {
        word: read_option(f"--{word}", given, read_json)
        for word, given in (("item", item), ("product", product))
        if given is not None
    }
    with naming:
        answer = shared.ask(lambda client: client.test_setup(setup, document=text, **more))
    if not shared.as_json(answer):
        for source in answer["sources"]:
            _print_tried(source)
        if not answer["sources"]:
            note(f"line {setup} has no sources")
    return int(
        any(
            source["error"]
            or any(one["state"] == "refused" for one in source["items"])
            or any(one["error"] for one in source["messages"])
            for source in answer["sources"]
        )
    )


def _print_tried(source: Mapping[str, Any]) -> None:
    for one in source["items"]:
        print(plain(f"{source['source']} {one['key']}: {one['reason'] or one['state']}"))
        for field, value in (one["job"] or {}).items():
            print(plain(f"    {field}: {text_of(value)}"))
    for one in source["messages"]:
        print(plain(f"  message to {one['sink']}, {text_of(one['to'])}"))
        print(plain(f"    {one['message'] or one['error']}"))
    if source["error"] or not source["items"]:
        note(f"{source['source']}: {source['error'] or 'no item now; give one with `--item`'}")


@app.command(name="ls")
def list_lines(*, shared: Shared = SHARED) -> None:
    """List how production lines are: sources with what they found last, sinks with
    messages that have not arrived, and how many jobs have each status.

        weft line ls
    """
    answer = shared.ask(lambda client: client.line_overview())
    if shared.as_json(answer):
        return
    for part, columns in {"sources": SOURCE, "sinks": SINK, "statuses": STATUS}.items():
        if answer[part]:
            right = ("Waiting", "Open", "Given up", "Held", "Jobs")
            print_columns(columns, answer[part], right=right, spare=("Kind", "Oldest open"))
    if not any(answer.values()):
        note("no lines that you see: `weft line apply FILE` brings one")


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Print the file of a production line, as it was applied. Only for operators.

        weft line show hrsi

    Args:
        name: Name of the line.
    """
    answer = shared.ask(lambda client: client.get_setup(name))
    if not shared.as_json(answer):
        print(answer["document"], end="")


@app.command(name="rm")
def remove(name: str, /, *, shared: Shared = SHARED) -> None:
    """Forget the file of a production line: its jobs go on, and messages that are still to be sent
    are sent. Only for operators.

        weft line rm hrsi

    Args:
        name: Name of the line.
    """
    sinks = shared.ask(lambda client: client.line_overview())["sinks"]
    shared.ask(lambda client: client.remove_setup(name))
    shared.tell({"setup": name}, f"line {name} is removed")
    _tell_of_messages(shared, name, sinks)


def _tell_of_messages(shared: Shared, setup: str, sinks: Sequence[Mapping[str, Any]]) -> None:
    """Say which messages there are of sinks that a line has no more."""
    for sink in sinks:
        if not shared.json and sink["setup"] == setup and (counts := unsent(sink)):
            lists = f"`weft line deliveries {sink['sink']}` lists them"
            note(f"sink {sink['sink']} has messages, which stay: {counts}; {lists}")


@app.command(name="set")
def set_(
    job: str,
    status: str,
    /,
    *,
    message: Annotated[str | None, Parameter(name=("--message", "-m"))] = None,
    shared: Shared = SHARED,
) -> None:
    """Set the status of a job, if its lifecycle allows it now.

        weft line set b1.j7 error_checked -m "disk replaced"

    What a status names happens: `ready` makes an ended or blocked job ready
    again, `cancelled` cancels it, `failed` ends it if it waits.

    Args:
        job: `b1.j7`.
        status: One of its lifecycle.
        message: Why, for its history.
    """
    batch_id, job_id = parse_job_ref(job)
    answer = shared.ask(
        lambda client: client.change_status(batch_id, job_id, status, message=message)
    )
    shared.tell(
        answer, f"{format_job_ref(batch_id, job_id)}: {answer['status']}, {answer['state']}"
    )


@app.command
def deliveries(sink: str, /, *, shared: Shared = SHARED) -> None:
    """List the messages of a sink. Only for operators.

        weft line deliveries wekeo

    Args:
        sink: Name of the sink.
    """
    messages = shared.ask_all(lambda client: client.list_messages(sink))
    shared.table(
        messages,
        {
            "Delivery": "delivery_id",
            "Job": lambda row: format_job_ref(row["batch_id"], row["job_id"]),
            **DELIVERY,
        },
        right=("Delivery", "Attempts"),
        empty="no messages yet: no job with this sink has ended well",
    )


@app.command
def redeliver(
    sink: str,
    message: int | None = None,
    /,
    *,
    given_up: Annotated[bool, Parameter(name=["--given-up", "--failed"], negative="")] = False,
    shared: Shared = SHARED,
) -> int:
    """Send a message of a sink again now, also one that was given up. Only for
    operators.

        weft line redeliver wekeo 7
        weft line redeliver wekeo --given-up

    Args:
        sink: Name of the sink; also of one that is removed.
        message: Its number, as `weft line deliveries` shows it.
        given_up: All that were given up.
    """
    if (message is None) != given_up:
        raise WrongOption("which message?", hint="Write its number, or `--given-up` for all.")
    if message is not None:
        answer = shared.ask(lambda client: client.redeliver_message(sink, message))
        return shared.tell(answer, f"message {message} of sink {sink} is {answer['state']}")
    return _settle(sink, "send", "sent again", shared)


@app.command
def drop(sink: str, /, *, yes: Flag = False, shared: Shared = SHARED) -> int:
    """Drop the messages of a sink that were given up: nothing tells of them from now on but
    the history of their jobs. That is asked first, with their number. Only for operators.

        weft line drop wekeo

    `weft line decide wekeo 7 drop` drops one of them.

    Args:
        sink: Name of the sink; also of one that is removed.
        yes: Do not ask.
    """
    if not yes:
        found = shared.ask(lambda client: client.settle_given_up(sink, "drop", dry_run=True))
        what = f"{_messages(found['n_messages'], sink)} would never be sent"
        need_person(what)
        if code := ask(f"{what}. Go on?", otherwise="nothing is dropped"):
            return code
    return _settle(sink, "drop", "dropped", shared)


def _settle(sink: str, decision: str, what: str, shared: Shared) -> int:
    n_messages, more = 0, True
    while more:
        found = shared.ask(lambda client: client.settle_given_up(sink, decision))
        n_messages, more = n_messages + found["n_messages"], found["n_messages"] == GIVEN_UP_MAX
    answer = {"sink": sink, "n_messages": n_messages}
    return shared.tell(answer, f"{_messages(n_messages, sink)}: {what}")


def _messages(count: int, sink: str) -> str:
    more = "+" * (count == GIVEN_UP_MAX)
    return f"{counted(count, 'message', more)} of sink {sink}"


@app.command
def decide(
    sink: str, message: int, decision: Literal["pass", "drop"], /, *, shared: Shared = SHARED
) -> int:
    """Send a message that a check has stopped, or drop it; or drop one that was given up. Only for
    operators.

        weft line decide wekeo 7 pass

    Args:
        sink: Name of the sink.
        message: Its number, as `weft line deliveries` shows it.
        decision: `pass` or `drop`.
    """
    answer = shared.ask(lambda client: client.decide_message(sink, message, decision))
    return shared.tell(answer, f"message {message} of sink {sink} is {answer['state']}")


lifecycle_app = App(
    name="lifecycle",
    help="Show the statuses of a line, and which may follow which.\n\n"
    "    weft lifecycle show hrsi",
)

LIFECYCLE_HEADER = ("Status", "State", "Phase", "May be followed by")


@lifecycle_app.command(name="show")
def show_lifecycle(name: str, /, *, shared: Shared = SHARED) -> None:
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
    print_table(LIFECYCLE_HEADER, rows, spare=("Phase", "State"))


@lifecycle_app.command
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
