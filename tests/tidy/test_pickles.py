"""What a user pickled is read where its owner's code runs anyway, and nowhere else."""

import ast

from tidy.source_files import nodes_of, python_files, relative

READERS = {
    "src/weft/run/isolated/process.py",  # writes questions
    "src/weft/run/isolated/limited_process.py",  # reads these, which a role has sent
    "src/weft/extensions/joblib/backend.py",  # has joblib do it, with results of its own jobs
    "src/weft/client/functions/pickles.py",  # results of the client's own batch
    "src/weft/worker/warm/functions.py",  # functions, in a process of their batch
    "src/weft/worker/warm/outcome.py",  # arguments, likewise
}
_MODULES = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib"}


def test_nobody_else_unpickles() -> None:
    found = set()
    for path in python_files("src"):
        names = {alias.name for node in nodes_of(path, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes_of(path, ast.ImportFrom)}
        if _MODULES & {name.partition(".")[0] for name in names}:
            found.add(relative(path))

    assert found == READERS
