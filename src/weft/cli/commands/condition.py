"""`weft condition`: what blocked jobs wait for together."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from weft.cli.input.options import SHARED, App, Parameter, Shared, bounded
from weft.cli.terminal.incidents import INCIDENT, last_test, test_of
from weft.cli.terminal.screen import Document, at, moment, print_columns, print_facts
from weft.client.api import Api
from weft.core.ids import format_condition_id, format_job_ref, parse_condition_id
from weft.core.text.amounts import counted

app = App(
    name="condition",
    help="Show what blocked jobs wait for together, and let them go on.\n\n    weft condition ls",
)


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List what blocked jobs that you see wait for together, the oldest first.

        weft condition ls

    Each is one incident, tested once for all its jobs. One that is over is not
    listed any more.
    """
    found = shared.ask_all(lambda client: client.list_conditions())
    empty = "no job waits for a condition; a job that calls `weft block` does"
    shared.table(found, INCIDENT, right=("Jobs",), empty=empty)


@app.command
def show(condition: str, /, *, shared: Shared = SHARED) -> None:
    """Show a condition with the jobs that are due first.

        weft condition show c3

    Args:
        condition: Id of the condition.
    """
    found = _ask(shared, condition, Api.get_condition)
    if shared.as_json(found):
        return
    print_facts(
        {
            "condition": format_condition_id(found["condition_id"]),
            "kind": found["condition"],
            "test": test_of(found),
            "since": moment(found["since"]),
            "jobs": f"{found['n_jobs']:,}",
            "last test": last_test(found, width=200),
            "next test": moment(found["next_test_at"]),
            "then go on": counted(found["n_next"], "job"),
            "given up by": found["failed_by"],
        }
    )
    if found["jobs"]:
        print()
        print_columns(
            {
                "Job": lambda row: format_job_ref(row["batch_id"], row["job_id"]),
                "Waits since": at("blocked_at"),
                "Next try": at("next_at"),
            },
            found["jobs"],
        )


@app.command(name="test")
def look_now(condition: str, /, *, shared: Shared = SHARED) -> None:
    """Test a condition now, instead of at its next date. If it passes, its jobs go on.

        weft condition test c3

    Args:
        condition: Id of the condition.
    """
    found = _ask(shared, condition, Api.test_condition)
    _say(shared, found, "is tested now; `weft condition ls` shows what the test says")


@app.command
def release(
    condition: str,
    n: Annotated[int, Parameter(name="N", validator=bounded(1))],
    /,
    *,
    shared: Shared = SHARED,
) -> None:
    """Let jobs of a condition go on without a test, those that are due first.

        weft condition release c3 10

    Only for administrators.

    Args:
        condition: Id of the condition.
        n: How many.
    """
    found = _ask(shared, condition, lambda client, number: client.release_condition(number, n))
    _say(shared, found, f"lets {n:,} job{'s' * (n != 1)} go on")


@app.command
def fail(condition: str, /, *, shared: Shared = SHARED) -> None:
    """Give up a condition: its jobs end as errors.

        weft condition fail c3

    Only for administrators. `weft cancel` ends single jobs.

    Args:
        condition: Id of the condition.
    """
    found = _ask(shared, condition, Api.fail_condition)
    _say(shared, found, "is given up: its jobs end")


def _say(shared: Shared, found: Document, what: str) -> None:
    shared.tell(found, f"condition {format_condition_id(found['condition_id'])} {what}")


def _ask(
    shared: Shared, condition: str, ask: Callable[[Api, int], Awaitable[Document]]
) -> Document:
    condition_id = parse_condition_id(condition)
    return shared.ask(lambda client: ask(client, condition_id))
