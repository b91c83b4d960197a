"""Findings of `weft doctor` and `weft system`, one below the other."""

import sys
from collections.abc import Iterable

from weft.cli.terminal.plain import plain
from weft.cli.terminal.wrapped import wrapped
from weft.core.findings import Finding

MARKS = {"ok": "ok     ", "off": "off    ", "warning": "warning", "wrong": "WRONG  "}


def print_findings(findings: Iterable[Finding]) -> None:
    """Print each finding with its advice."""
    for one in findings:
        first = f"{MARKS[one.verdict]}  {one.check:<11} "
        rest = " " * len(first)
        print(wrapped(plain(one.found), sys.stdout, first=first, rest=rest))
        if one.advice:
            print(wrapped(plain(one.advice), sys.stdout, first=rest, rest=rest))
