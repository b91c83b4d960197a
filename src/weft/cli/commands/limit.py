"""`weft limit`: how much projects, users, batches and groups may use."""

import math
from typing import Annotated, Any, Literal

from weft.cli.input.limit_options import parse_deadline
from weft.cli.input.options import (
    SHARED,
    App,
    Parameter,
    Shared,
    WrongOption,
    need_one,
    read_option,
)
from weft.cli.input.targets import Target, parse_batch, parse_target
from weft.cli.terminal.plain import moment
from weft.cli.terminal.screen import Document, at, one_line
from weft.core.billing.spending import amount_text
from weft.core.errors import BadId
from weft.core.ids import format_batch_id
from weft.core.text.amounts import duration
from weft.wire.documents.limits import MeasureWord

app = App(
    name="limit",
    help="Limit what projects, users, batches and groups may use, in money or in hours.\n\n"
    "    weft limit set --user bob --measure cpu 1000",
)

WIDTH = 64


@app.command(name="ls")
def list_all(
    *, batch: Annotated[str | None, Parameter(name="--batch")] = None, shared: Shared = SHARED
) -> None:
    """List limits, what was used of them, and when they are reached at this rate.

        weft limit ls
        weft limit ls --batch b12

    Operators see those of the tenant; others their own, and those of their
    billing projects and of batches that they see.

    Args:
        batch: Only limits of this batch, its groups, its project and its user.
    """
    batch_id = None if batch is None else parse_batch(batch)
    found = shared.ask_all(lambda client: client.list_limits(batch_id))
    shared.table(
        found,
        {
            "Limit of": _whose,
            "Used": _used,
            "At most": lambda row: _most(row, "amount_max"),
            "Soft": lambda row: _most(row, "amount_soft_max"),
            "State": "limit_state",
            "Reached in": _left,
            "Ends": at("until"),
        },
        spare=("Ends",),
        right=("Used", "At most", "Soft"),
        empty="no limits that you see; `weft limit set` sets one",
    )


@app.command(name="set")
def set_one(
    amount: str | None = None,
    /,
    *,
    project: str | None = None,
    user: str | None = None,
    batch: str | None = None,
    measure: MeasureWord = "cost",
    soft: str | None = None,
    on_limit: Literal["pause", "cancel"] | None = None,
    until: str | None = None,
    shared: Shared = SHARED,
) -> None:
    """Limit what a billing project, a user, a batch or a group may use.

        weft limit set --user bob --measure cpu 1000 --soft 800
        weft limit set --batch b12/stage1 50
        weft limit set --project genomics --measure gpu none

    At a limit nothing starts and what runs is stopped; it goes on when the limit
    is raised. Beyond the soft one the jobs weigh half in the shares of users.
    Those of projects and users are for administrators of the tenant.

    Args:
        amount: How much may be used, or none.
        project: All batches of this billing project.
        user: All batches of this user, whoever pays.
        batch: This batch, such as b12, or this group of it, such as b12/stage1.
        measure: cost: money; cpu: core hours; memory, storage: GiB hours; gpu: GPU hours.
        soft: From which amount on the jobs have half of their share, or none.
        on_limit: Whether the jobs are paused or cancelled at the limit.
        until: When it ends: 2h, 18:00 or 2027-01-01T02:00; none: never.
    """
    need_one("limit", project=project, user=user, batch=batch)
    changes = read_limit("amount", amount, soft, on_limit)
    if until is not None:
        end = None if until == "none" else read_option("--until", until, parse_deadline)
        changes["until"] = end
    if not changes:
        raise WrongOption(
            "no limit is given",
            hint="Give an amount, --soft, --on-limit or --until; `none` lifts one.",
        )
    target = None if batch is None else _group(batch)
    found = shared.ask(
        lambda client: client.set_limit(
            {"measure": measure, **changes},
            project=project,
            user=user,
            batch_id=None if target is None else target.batch_id,
            group=None if target is None else target.group,
        )
    )
    most, soft_most = (_most(found, name) for name in ("amount_max", "amount_soft_max"))
    shared.tell(
        found,
        f"{_whose(found)}: at most {most}, soft limit {soft_most}; {_used(found)} used"
        + (f"; ends {moment(found['until'])}" if found["until"] else ""),
    )


def read_limit(
    field: str, amount: str | None, soft: str | None, on_limit: str | None
) -> dict[str, Any]:
    """Return what these options change. Raise `WrongOption`."""
    given = {"AMOUNT": (f"{field}_max", amount), "--soft": (f"{field}_soft_max", soft)}
    changes: dict[str, Any] = {
        name: read_option(option, text, read_amount)
        for option, (name, text) in given.items()
        if text is not None
    }
    return changes if on_limit is None else {**changes, "on_limit": on_limit}


def read_amount(text: str) -> float | None:
    """Read `500`, `12.50` or `none`."""
    if text == "none":
        return None
    amount = float(text)
    if not math.isfinite(amount) or amount < 0:
        raise ValueError(f"{text!r} is not an amount: write it as 500 or 12.50, or none")
    return amount


def _group(text: str) -> Target:
    target = parse_target(text)
    if target.job_id is not None:
        raise BadId(text, expected="a batch is written b12, a group b12/stage1")
    return target


def _whose(found: Document) -> str:
    if found["batch_id"] is None:
        return f"{found['kind']} {one_line(found[found['kind']], width=WIDTH)}"
    batch = format_batch_id(found["batch_id"])
    if found["kind"] == "batch":
        return batch
    return f"{batch}/{one_line(found['path'].lstrip('/'), width=WIDTH)}"


def _most(found: Document, name: str) -> str:
    amount = found[name]
    return "none" if amount is None else amount_text(amount, found["measure"])


def _used(found: Document) -> str:
    return amount_text(found["amount"], found["measure"])


def _left(found: Document) -> str:
    left = found["limit_in_s"]
    return "" if left is None else duration(left * 1000)
