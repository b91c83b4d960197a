"""Prices, limits of spending, and reports of what was used."""

import csv
import io
from decimal import Decimal
from typing import Any

import pytest

from cases import cases
from weft.core.billing.rates import InvalidPrice, machine_prices
from weft.core.billing.reports import Division, csv_of, parse_division, sum_of
from weft.core.billing.spending import Spending, Stage, stage_of


def test_prices_are_read_exactly() -> None:
    (first, second) = machine_prices(["burst/small=0.050", "a/b.c=1e1"])

    assert first == ("burst", "small", "0.05")
    assert second == ("a", "b.c", "10")


@cases(
    "text",
    [
        "burst=1",
        "/small=1",
        "burst/=1",
        "burst/small",
        "burst/small=x",
        "burst/small=-1",
        "burst/small=NaN",
        "burst/small=1e9",
        "burst/small=0.0000000000001",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidPrice, match="price"):
        machine_prices([text])


TICK_S = 10


def spending(**more: Any) -> Spending:  # noqa: ANN401 (fields of Spending)
    """Return that of a project with limits 80 and 100, of which 36 run off in an hour."""
    known = {
        "amount_max": Decimal(100),
        "amount_soft_max": Decimal(80),
        "used": Decimal(0),
        "used_per_hour": Decimal(36),
        "stage": Stage.BELOW,
    }
    return Spending(**{**known, **more})


@cases(
    ("spent", "stage"),
    [
        ("79.9", Stage.BELOW),
        ("80", Stage.SLOWED),
        ("99.89", Stage.SLOWED),
        ("99.9", Stage.REACHED),  # a tick of what runs costs 0.1
        ("100", Stage.REACHED),
        ("300", Stage.REACHED),
    ],
)
def test_limit_is_reached_a_tick_ahead(spent: str, stage: Stage) -> None:
    assert stage_of(spending(used=Decimal(spent)), is_new=False, lookahead_s=TICK_S) is stage


def test_nothing_is_reached_without_a_limit() -> None:
    one = spending(amount_max=None, amount_soft_max=None, used=Decimal(10**9))

    assert stage_of(one, is_new=False, lookahead_s=TICK_S) is Stage.BELOW


def test_limit_of_nothing_is_reached_before_anything_runs() -> None:
    one = spending(amount_max=Decimal(0), used_per_hour=Decimal(0))

    assert stage_of(one, is_new=True, lookahead_s=TICK_S) is Stage.REACHED


def test_reached_limit_stays_so_until_limits_are_set_again() -> None:
    """A little is left, because nothing runs any more."""
    one = spending(used=Decimal("99.95"), used_per_hour=Decimal(0), stage=Stage.REACHED)

    assert stage_of(one, is_new=False, lookahead_s=TICK_S) is Stage.REACHED
    assert stage_of(one, is_new=True, lookahead_s=TICK_S) is Stage.SLOWED


def row(name: str | None, cost: str = "1", kind: str = "value") -> dict[str, object]:
    used = [{"resource": "memory", "usage": 2**70, "unit": "MiB*ms", "cost": cost}]
    return {"name": name, "kind": kind, "cost": cost, "cost_by_resource": used}


def test_division_is_a_word_or_an_attribute() -> None:
    assert parse_division("day") == Division("day")
    assert parse_division("attribute=a=b") == Division("attribute", "a=b")
    assert (parse_division("user").title, parse_division("attribute=k").title) == ("user", "k")
    for text in ("", "days", "attribute", "attribute="):
        with pytest.raises(ValueError, match="is not one of"):
            parse_division(text)


@cases(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
)
def test_no_text_is_a_formula(start: str) -> None:
    text = f"{start}HYPERLINK(1)"
    header, cells = csv.reader(io.StringIO(csv_of(text, [row(text)]), newline=""))

    assert (header[0], cells[0]) == (f"'{text}", f"'{text}")


@cases("separator", [";", "\t", "|", ":", "^"])
def test_no_text_is_a_formula_where_cells_are_separated_otherwise(separator: str) -> None:
    """In much of Europe spreadsheets open files whose cells are separated by semicolons."""
    text = f"a{separator}=cmd|'/c calc'!A0{separator}\"b\"{separator}=1"
    written = io.StringIO(csv_of(text, [row(text), row(f"{separator}=1")]), newline="")

    cells = [cell for line in csv.reader(written, delimiter=separator) for cell in line]
    assert [cell for cell in cells if cell.startswith("=")] == []


def test_csv_quotes_what_it_must_and_keeps_figures_exact() -> None:
    written = csv_of("cohort", [row('a"b,c\nd', "0.000000000001"), row(None, kind="none")])

    assert written == (
        "cohort,kind,cost,cpu_mcpu_ms,memory_mib_ms,storage_mib_ms,gpu_ms\r\n"
        f'"a""b,c\nd",value,0.000000000001,0,{2**70},0,0\r\n'
        f",none,1,0,{2**70},0,0\r\n"
    )


def test_costs_add_up_without_loss() -> None:
    tiny = "0.000000000001"

    assert sum_of([row("a", "100000000000"), row("b", tiny)]) == "100000000000.000000000001"
    assert (sum_of([]), sum_of([row("a", "10")])) == ("0", "10")
