"""Reports of what billing projects cost: how they are divided, and their form as CSV."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

DIVISIONS: Final = ("project", "user", "day", "resource")
_ATTRIBUTE: Final = "attribute="
USAGE_COLUMNS: Final = MappingProxyType(
    {"cpu": "cpu_mcpu_ms", "memory": "memory_mib_ms", "storage": "storage_mib_ms", "gpu": "gpu_ms"}
)
"""The column of each resource, with its unit."""
_FORMULA_STARTS: Final = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")
"""Spreadsheets take a cell that begins with one of these for a formula; the last four are wide
forms of the first ones, which count in East Asia.

Source: OWASP, CSV Injection.
"""
_PLAIN: Final = re.compile(r"[\w ./@'-]*")
Row = Mapping[str, Any]  # as the api replies with it


@dataclass(frozen=True)
class Division:
    """By what a report is divided."""

    by: str
    attribute: str | None = None
    """The key, if it is divided by the values of an attribute of batches."""

    @property
    def title(self) -> str:
        """Return what the names of the rows are."""
        return self.by if self.attribute is None else self.attribute


def parse_division(text: str) -> Division:
    """Read `project`, `user`, `day`, `resource` or `attribute=KEY`. Raise `ValueError`."""
    if text in DIVISIONS:
        return Division(text)
    if text.startswith(_ATTRIBUTE) and len(text) > len(_ATTRIBUTE):
        return Division("attribute", text.removeprefix(_ATTRIBUTE))
    raise ValueError(f"{text[:40]!r} is not one of {', '.join(DIVISIONS)}, attribute=KEY")


def sum_of(rows: Iterable[Row]) -> str:
    """Return the exact sum of the costs of rows."""
    return f"{sum((Decimal(row['cost']) for row in rows), Decimal(0)).normalize():f}"


def csv_of(title: str, rows: Sequence[Row]) -> str:
    """Return a report as CSV whose texts no spreadsheet takes for formulas.

    Source: RFC 4180.
    """
    lines = [[_cell(title), "kind", "cost", *USAGE_COLUMNS.values()]]
    for row in rows:
        used = {one["resource"]: one["usage"] for one in row["cost_by_resource"]}
        usages = [str(used.get(resource, 0)) for resource in USAGE_COLUMNS]
        lines.append([_cell(row["name"] or ""), row["kind"], row["cost"], *usages])
    return "".join(",".join(line) + "\r\n" for line in lines)


def _cell(text: str) -> str:
    """Return a text as a cell. It is in quotes if it has a character that separates cells
    anywhere: else a formula could begin behind it.
    """
    if text.startswith(_FORMULA_STARTS) or text.lstrip().startswith(_FORMULA_STARTS):
        text = f"'{text}"
    if _PLAIN.fullmatch(text):
        return text
    quoted = text.replace('"', '""')
    return f'"{quoted}"'
