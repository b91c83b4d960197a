"""Which programs get all of the environment of whoever started weft, its settings included."""

import ast

from tidy.source_files import python_files, relative, tree_of

PROGRAMS = [path for path in python_files("src", "packages") if "tests" not in path.parts]
WHOLE = {
    "src/weft/plugins/runners/spawner/start.py": "the spawner is a part of the worker",
    "packages/lines/src/weft_lines/sources/command.py": "a program of the administrator's",
    "packages/slurm/src/weft_slurm/runner/shell.py": "commands of Slurm, which jobs do not see",
    "packages/ssh/src/weft_ssh/provider/host_program.py": "on the host, where it is the user's",
}
"""Others take `outer_environment`: the settings of one weft are not meant for another one."""


STARTING = {
    "Popen",
    "check_call",
    "check_output",
    "create_subprocess_exec",
    "execve",
    "execvpe",
    "posix_spawn",
    "posix_spawnp",
    "subprocess.run",
}
"""Names of functions that start a program."""


def _starts(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not {
        name := ast.unparse(node.func),
        name.rpartition(".")[2],
    }.isdisjoint(STARTING)


def _passes_all(node: ast.AST) -> bool:
    """Return whether a node hands `os.environ` on as a whole, to whatever starts a program."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return any(key is None and ast.unparse(value) == "os.environ" for key, value in pairs)
    if isinstance(node, ast.BinOp):
        return "os.environ" in (ast.unparse(node.left), ast.unparse(node.right))
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        given = [*node.args, *(word.value for word in node.keywords)]
        takes = _starts(node) or name in {"dict", "environment_of"}
        return name == "os.environ.copy" or (
            takes and any(ast.unparse(one) == "os.environ" for one in given)
        )
    return False


def test_who_gets_the_whole_environment_is_known() -> None:
    found = {
        relative(path)
        for path in PROGRAMS
        if "os.environ" in path.read_text() and any(map(_passes_all, ast.walk(tree_of(path))))
    }
    assert found == WHOLE.keys()


def test_programs_of_a_siege_are_given_an_environment() -> None:
    """Without `env` a program gets the settings of whoever besieges."""
    starts = [
        (relative(path), node.lineno)
        for path in PROGRAMS
        if "weft_siege" in path.parts
        for node in ast.walk(tree_of(path))
        if _starts(node)
        and isinstance(node, ast.Call)
        and not any(word.arg == "env" for word in node.keywords)
    ]
    assert starts == []
