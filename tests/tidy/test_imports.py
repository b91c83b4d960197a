"""What is imported: each package is everybody's or an extra's, and one home has those of HTTP."""

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

from tidy.source_files import ROOT, nodes_of
from weft.core.errors.installation import EXTRA_OF

SRC = ROOT / "src/weft"
LIBRARIES = {"h11", "http.client", "httpcore", "httpx", "urllib.request"}
OWN = {
    "client/http/": "the client's own, for its import time",
    "net/": "the one",
    "plugins/executors/process/minder.py": "must stay small",
}


OF_NO_EXTRA = {"pandas", "pytest", "ray", "sklearn"}
"""Only those call it who have it."""


def imported() -> Iterator[tuple[Path, set[str]]]:
    """Yield each file of the product with the modules that it imports."""
    for path in SRC.rglob("*.py"):
        modules = {alias.name for node in nodes_of(path, ast.Import) for alias in node.names}
        for node in nodes_of(path, ast.ImportFrom):
            modules |= {f"{node.module}", *(f"{node.module}.{one.name}" for one in node.names)}
        yield path.relative_to(SRC), modules


def test_foreign_servers_are_spoken_to_through_one_home() -> None:
    """ADR 169."""
    importing = {str(path) for path, modules in imported() if modules & LIBRARIES}

    assert {name for name in importing if not name.startswith(tuple(OWN))} == set()


def test_each_package_is_everybodys_or_an_extras() -> None:
    tops = {name.partition(".")[0] for _, modules in imported() for name in modules}
    lines = distribution("weft").requires or ()
    everybodys = {line.partition(">")[0] for line in lines if "extra ==" not in line}
    declared = {line.partition(">")[0] for line in lines}
    owners = {
        top: {name.lower().replace("_", "-") for name in names}
        for top, names in packages_distributions().items()
    }
    foreign = tops - sys.stdlib_module_names - {"weft"} - OF_NO_EXTRA
    others = {top for top in foreign if everybodys.isdisjoint(owners.get(top, ()))}

    assert others <= set(EXTRA_OF)
    assert {top for top in others & owners.keys() if declared.isdisjoint(owners[top])} == set()
    assert {extra for extra in EXTRA_OF.values() if f"'{extra}'" not in str(lines)} == set()
