"""Command lines that are bound without cyclopts: alike to what it makes of them, or left to it."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import pytest

from weft.cli.app import build_app
from weft.cli.input.usual_lines import FILE, usual_line

FORMS: Mapping[str, Any] = json.loads(FILE.read_text())
ODD = ("", "-", "--", "-1", "007", "1.5", "none", "NULL", "x=y", "~/a", "a,b", "[]", "1" * 20)
"""Values of which each one is something else to some type."""


def test_each_usual_command_loads_without_cyclopts() -> None:
    """Options are declared by names there: a mistake shows in no process that has it."""
    code = """import json, sys
from weft.cli.input.signature import do_without
from weft.cli.input.usual_lines import FILE, _imported
do_without()
for form in json.loads(FILE.read_text()).values():
    _imported(form["function"])
assert "cyclopts" not in sys.modules"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.heavy
def test_usual_lines_are_bound_as_cyclopts_does() -> None:
    kinds: set[str] = set()
    app = build_app()
    for name, form in FORMS.items():
        for words in _lines(form):
            line = usual_line([*name.split(), *words])
            assert line, words
            assert line.bound() == app.parse_args([*name.split(), *words])[:2], words
        for words in _odd_lines(form, kinds):
            if line := usual_line([*name.split(), *words]):
                assert line.bound() == app.parse_args([*name.split(), *words])[:2], words


def _lines(form: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield lines of a command in which each name of each option stands once."""
    placed = [_usual(kind) for _, kind, _ in form["arguments"]]
    more = ["x", "none"] if form["more"] else []
    names: dict[tuple[str, str], list[list[str]]] = {tuple(one): [] for one in form["needed"]}
    for word, (argument, field, kind, _) in form["options"].items():
        option = [word] if isinstance(kind, bool) else [word, _usual(kind)]
        names.setdefault((argument, field), []).append(option)
    needed = [part for one in form["needed"] for part in names[*one][0]]
    yield [*needed, "--", *placed, *more, *more]
    for options in zip_longest(*names.values()):
        given = {key: option for key, option in zip(names, options, strict=True) if option}
        missing = {tuple(one): names[*one][0] for one in form["needed"]} | given
        yield [*placed, *(part for option in missing.values() for part in option), *more]


def _odd_lines(form: Mapping[str, Any], kinds: set[str]) -> Iterator[list[str]]:
    """Yield lines that may be mistakes, for each kind of value that is new."""
    usual = next(_lines(form))
    for word, (_, _, kind, is_repeated) in form["options"].items():
        if (kind_of := f"{kind} {is_repeated}") not in kinds:
            kinds.add(kind_of)
            option = [word] if isinstance(kind, bool) else [word, _usual(kind)]
            yield [*option, *option, *usual]
            for odd in ODD:
                yield from ([f"{word}={odd}", *usual], [word, odd, *usual])
    for at, (_, kind, is_needed) in enumerate(form["arguments"]):
        if (kind_of := f"{kind} {is_needed} {form['more']}") not in kinds:
            kinds.add(kind_of)
            yield usual[: usual.index("--")]
            for odd in ODD:
                yield [*[part for part in usual if part != "--"][:at], odd]
                yield [*usual, odd]


def _usual(kind: str | list[Any]) -> str:
    name, *limits = kind if isinstance(kind, list) else [kind]
    if name == "choice":
        return str(limits[-1])
    return str(max(limits[0] or 1, 1) if limits else 5) if name == "int" else "b12.j1"
