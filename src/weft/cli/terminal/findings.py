"""Findings of `weft doctor` and `weft system`, one below the other."""

import sys
from collections.abc import Iterable

from weft.cli.terminal.plain import plain, wrapped
from weft.core.findings import Finding

MARKS = {"ok": "ok     ", "off": "off    ", "warning": "warning", "wrong": "WRONG  "}


def print_findings(findings: Iterable[Finding]) -> None:
    """Print each finding with its advice."""
    for finding in findings:
        first = f"{MARKS[finding.verdict]}  {finding.check:<11} "
        rest = " " * len(first)
        print(wrapped(plain(finding.found), sys.stdout, first=first, rest=rest))
        if finding.advice:
            print(wrapped(plain(finding.advice), sys.stdout, first=rest, rest=rest))
