"""Foreign servers are spoken to through `weft/net` (ADR 169)."""

import ast

from tidy.source_files import ROOT, nodes_of

SRC = ROOT / "src/weft"
LIBRARIES = {"h11", "http.client", "httpcore", "httpx", "urllib.request"}
OWN = {
    "client/http/": "the client's own, for its import time",
    "net/": "the one",
    "plugins/executors/process/minder.py": "must stay small",
}


def test_nothing_else_imports_a_library_of_http() -> None:
    importing = set()
    for path in SRC.rglob("*.py"):
        name = str(path.relative_to(SRC))
        modules = {alias.name for node in nodes_of(path, ast.Import) for alias in node.names}
        for node in nodes_of(path, ast.ImportFrom):
            modules |= {f"{node.module}", *(f"{node.module}.{one.name}" for one in node.names)}
        if modules & LIBRARIES and not name.startswith(tuple(OWN)):
            importing.add(name)

    assert importing == set()
