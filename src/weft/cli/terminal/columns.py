"""Which columns of a table fit on a screen, and how wide they are."""

from collections.abc import Mapping, Sequence

GAP = 2
"""Blanks between two columns."""
FLEXIBLE = ("Name", "Why", "What", "Guard")
"""Texts: they are cut before a column is left out."""
FLEXIBLE_MIN = 12


def fit_columns(
    needs: Mapping[str, int], width: int, spare: Sequence[str] = (), *, gap: int = GAP
) -> dict[str, int]:
    """Return the columns that a screen has room for, with their widths.

    Texts give way first, then the columns in `spare`, in that order. Another column is whole or
    not there: half an id is none.
    """
    fitted = dict(needs)
    least = {name: min(needs[name], FLEXIBLE_MIN) for name in FLEXIBLE if name in needs}
    for name in spare:
        if _width_of({**fitted, **{n: least[n] for n in least if n in fitted}}, gap) <= width:
            break
        fitted.pop(name, None)
    for name in sorted(least.keys() & fitted.keys(), key=lambda one: -needs[one]):
        too_much = max(0, _width_of(fitted, gap) - width)
        fitted[name] = max(least[name], fitted[name] - too_much)
    return fitted


def _width_of(columns: Mapping[str, int], gap: int) -> int:
    return sum(columns.values()) + gap * (len(columns) - 1)
