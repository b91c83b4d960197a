"""Pages whose blocks of code are run, in order and in one namespace."""

import ast
import asyncio
import contextlib
import inspect
import io
import re
from pathlib import Path
from typing import Any

_BLOCK = re.compile(
    r"^```python[^\n]*\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


async def run_page(page: Path, names: dict[str, Any]) -> None:
    """Run the blocks ```` ```python ````, and compare what each prints with the block
    ```` ```text ```` below it, if there is one. `await` is allowed, as in a notebook.
    """
    text = page.read_text()
    for match in _BLOCK.finditer(text):
        # So that a traceback names the line of the page.
        code = "\n" * text.count("\n", 0, match.start("code")) + match["code"]
        compiled = compile(code, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            outcome = eval(compiled, names)  # noqa: S307 (our own page)
            if inspect.isawaitable(outcome):
                await asyncio.ensure_future(outcome)
        if match["printed"] is not None:
            assert printed.getvalue() == match["printed"], match["code"]
