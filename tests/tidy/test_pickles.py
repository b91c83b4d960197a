"""What a user pickled is read where its owner's code runs anyway, and nowhere else."""

import ast

from tidy.source_files import python_files, relative, tree_of

READERS = {
    "src/weft/client/functions/pickles.py",  # results of the client's own batch
    "src/weft/worker/warm/functions.py",  # functions, in a process of their batch
    "src/weft/worker/warm/outcome.py",  # arguments, likewise
}
_MODULES = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib"}


def test_nobody_else_unpickles() -> None:
    found = set()
    for path in python_files("src"):
        for node in ast.walk(tree_of(path)):
            names: set[str] = set()
            if isinstance(node, ast.Import):
                names = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").partition(".")[0]}
            if names & _MODULES:
                found.add(relative(path))

    assert found == READERS
