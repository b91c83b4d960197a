"""What is imported: each package is everybody's or an extra's, and one home has those of HTTP."""

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import distribution, packages_distributions
from itertools import chain

from tidy.source_files import nodes_of, product_files
from weft.core.errors.installation import EXTRA_OF

LIBRARIES = {"h11", "http.client", "httpcore", "httpx", "urllib.request"}
OWN = {
    "client/http/": "the client's own, for its import time",
    "net/": "the one",
    "plugins/executors/process/minder.py": "must stay small",
}


OF_NO_EXTRA = {"pandas", "pytest", "ray", "sklearn"}
"""Only those call it who have it."""


def imported() -> Iterator[tuple[str, set[str]]]:
    """Yield each file of the product with the modules that it imports."""
    for name, path in product_files().items():
        modules = {alias.name for node in nodes_of(path, ast.Import) for alias in node.names}
        for node in nodes_of(path, ast.ImportFrom):
            modules |= {f"{node.module}", *(f"{node.module}.{one.name}" for one in node.names)}
        yield name, modules


def test_foreign_servers_are_spoken_to_through_one_home() -> None:
    """ADR 169."""
    importing = {name for name, modules in imported() if modules & LIBRARIES}

    assert {name for name in importing if not name.startswith(tuple(OWN))} == set()


def test_each_package_is_everybodys_or_an_extras() -> None:
    tops = {name.partition(".")[0] for _, modules in imported() for name in modules}
    lines = distribution("weft").requires or ()
    everybodys = {line.partition(">")[0] for line in lines if "extra ==" not in line}
    packages = {top for name in product_files() if (top := name.partition("/")[0])[:5] == "weft_"}
    of_packages = [distribution(one.replace("_", "-")).requires or () for one in packages]
    declared = {line.partition(">")[0] for line in chain(lines, *of_packages)}
    owners = {
        top: {name.lower().replace("_", "-") for name in names}
        for top, names in packages_distributions().items()
    }
    foreign = tops - sys.stdlib_module_names - {"weft", *packages} - OF_NO_EXTRA
    others = {top for top in foreign if everybodys.isdisjoint(owners.get(top, ()))}

    assert others <= set(EXTRA_OF)
    assert {top for top in others & owners.keys() if declared.isdisjoint(owners[top])} == set()
    assert {extra for extra in EXTRA_OF.values() if f"'{extra}'" not in str(lines)} == set()
