"""How a report is divided, and its form as CSV."""

import csv
import io

import pytest

from cases import cases
from weft.core.billing.reports import Division, csv_of, parse_division, sum_of


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
