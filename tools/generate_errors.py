"""Write docs/errors.md from the tree of `WeftError`; with `--check`, only say if it is fresh."""

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

from weft.core.errors import WeftError, error_classes

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "errors.md"
HEAD = """# Errors

Made by `tools/generate_errors.py` from the classes; do not edit.

Every error has a code (never reused), a message (what), a detail (why) and a hint (what to do).
The api sends them as a problem document (RFC 9457).
The command line prints them in this order.
The Python client raises the class.
Exit codes of the command line: 0 ok, 1 the job failed, 2 usage, 3 not reachable, 4 refused.

| code | HTTP | exit | Python | meaning |
|---|---|---|---|---|
"""


def _import_all() -> None:
    """Import every module of the house and of the packages that run with it."""
    packages = {path.name for path in ROOT.glob("packages/*/src/weft_*")}
    for name in sorted({"weft", *packages} - {"weft_siege", "weft_testing"}):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def _kinds_with_code() -> list[type[WeftError]]:
    """Return the classes that name a code of their own, one per code."""
    kinds = {kind for kind in error_classes() if "code" in vars(kind)}
    by_code: dict[str, type[WeftError]] = {}
    for kind in sorted(kinds, key=lambda kind: kind.__qualname__):
        other = by_code.setdefault(kind.code, kind)
        if other is not kind:
            sys.exit(f"{kind.code} is the code of both {other.__name__} and {kind.__name__}")
    return [by_code[code] for code in sorted(by_code)]


def _row(kind: type[WeftError]) -> str:
    meaning = inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    module = re.sub(r"^(weft\.core\.errors)\.\w+", r"\1", kind.__module__)
    name = f"`{module}.{kind.__qualname__}`"
    return f"| `{kind.code}` | {kind.status} | {kind.exit_code} | {name} | {meaning} |\n"


def main() -> int:
    """Write or check; the exit code is 1 if the file is not fresh."""
    _import_all()
    text = HEAD + "".join(map(_row, _kinds_with_code()))
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text)
    elif not FILE.exists() or FILE.read_text() != text:
        print("docs/errors.md is stale: run `make errors` and commit it.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
