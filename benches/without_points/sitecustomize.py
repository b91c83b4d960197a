"""Python runs this at its start if this directory is in `PYTHONPATH`: from then on modules with
fault points are compiled without the statements that pass them.
"""

import ast
from importlib.machinery import SourceFileLoader
from typing import Any, Final

_compile: Final = SourceFileLoader.source_to_code


def without_points(text: str) -> tuple[ast.Module, int]:
    """Return a module without the statements that pass its points, and how many those were."""
    tree = ast.parse(text)
    points = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_call_of(node.value, {"fault_point"})
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    n_passed = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and _is_call_of(node.value, points):
            node.value = ast.copy_location(ast.Constant(None), node)
            n_passed += 1
    return tree, n_passed


def _is_call_of(node: ast.expr, names: set[str]) -> bool:
    """Say whether it calls one of these, or one of two as a condition says."""
    if not isinstance(node, ast.Call):
        return False
    called = [node.func]
    if isinstance(node.func, ast.IfExp):
        called = [node.func.body, node.func.orelse]
    return all(isinstance(one, ast.Name) and one.id in names for one in called)


def _source_to_code(self: SourceFileLoader, data: Any, *more: Any, **options: Any) -> Any:  # noqa: ANN401 (as the loader has it)
    if isinstance(data, bytes) and b" = fault_point(" in data:
        data, _ = without_points(data.decode())
    return _compile(self, data, *more, **options)


SourceFileLoader.source_to_code = _source_to_code  # type: ignore[assignment, method-assign]
