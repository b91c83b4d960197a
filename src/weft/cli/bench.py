"""`weft bench`: the numbers, each beside a reference in the same run."""

import importlib
from typing import Annotated

from cyclopts import Parameter

from weft.cli.options import SHARED, Shared


def bench(
    *arguments: Annotated[str, Parameter(allow_leading_hyphen=True)],
    shared: Shared = SHARED,
) -> int:
    """Measure one thing, and what it is compared with, in alternation.

    Args:
        arguments: Name of the bench and its options; without any, the benches are listed.
        shared: Options of every command.
    """
    run = importlib.import_module("weft.bench.main").run_bench
    code: int = run(list(arguments), as_json=shared.json, home=shared.home)
    return code
