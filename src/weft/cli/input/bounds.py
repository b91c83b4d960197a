"""Limits of numbers on a command line. Those of cyclopts take 3 ms to import."""

from collections.abc import Callable


def bounded(least: float, most: float | None = None) -> Callable[[object, float | None], None]:
    """Return a validator of cyclopts that refuses numbers outside of these limits, and NaN."""

    def check(_kind: object, value: float | None) -> None:
        if value is None:
            return
        if not value >= least:
            raise ValueError(f"must be at least {least}")
        if most is not None and not value <= most:
            raise ValueError(f"must be at most {most}")

    return check
