"""Reports of what billing projects cost: how they are divided, and their form as CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

DIVISIONS: Final = ("project", "user", "day", "resource")
_ATTRIBUTE: Final = "attribute="
USAGE_COLUMNS: Final = MappingProxyType(
    {
        "cpu": "cpu_mcpu_ms",
        "memory": "memory_mib_ms",
        "storage": "storage_mib_ms",
        "gpu": "gpu_ms",
    }
)
"""The column of each resource, with its unit."""
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Spreadsheets take a cell that begins with one of these for a formula.

Source: OWASP, CSV Injection.
"""
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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([_safe(title), "kind", "cost", *USAGE_COLUMNS.values()])
    for row in rows:
        used = {one["resource"]: one["usage"] for one in row["cost_by_resource"]}
        usages = [used.get(resource, 0) for resource in USAGE_COLUMNS]
        writer.writerow([_safe(row["name"] or ""), row["kind"], row["cost"], *usages])
    return text.getvalue()


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
