"""Each test is in a stage that somebody runs, and a stage of which all was skipped fails."""

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression
from hypothesis import settings
from hypothesis.internal.conjecture.providers import HypothesisProvider

from faults.test_points import FIRED
from tidy.source_files import ROOT, product_files, relative, tracked_files, tree_of
from weft.faults import POINTS

TESTS = ROOT / "tests"
MARKS = {"heavy", "fault", "engine", "world"}


@dataclass(frozen=True)
class Stage:
    """What one run of pytest takes: tests below these paths, of these marks."""

    paths: Sequence[str]
    marks: str

    def takes(self, file: str, marks: set[str]) -> bool:
        below = any(file == path or file.startswith(path + "/") for path in self.paths)
        chosen = Expression.compile(self.marks).evaluate(lambda name, /, **_: name in marks)
        return below and chosen


def stages() -> Iterator[Stage]:
    """Return those of the Makefile, and of the script for what takes minutes."""
    targets = ["make", "-n", "test", "tidy", "test-faults", "test-engines", "test-worlds"]
    text = subprocess.check_output(targets, cwd=ROOT, text=True)
    text += (ROOT / "tools" / "test_full.sh").read_text()
    for line in text.replace("\\\n", " ").splitlines():
        if not re.match(r"\s*(part '|tools/test_twice.sh)", line) or "WEFT_FULL_S" in line:
            continue
        words = shlex.split(re.sub(r"\$\(.*?\)", "", line))
        marks = words[words.index("-m") + 1]
        if "-k" not in words and "on_a_database" not in line:
            every = [relative(top) for top in TESTS.iterdir()]
            paths = [top for top in every if f"--ignore={top}" not in words]
            yield Stage([word for word in words if word.startswith("tests/")] or paths, marks)


def marked(file: Path) -> Iterator[tuple[str, set[str]]]:
    """Return the marks of each test, or each class of tests, of a file."""
    text = file.read_text()
    own = {"fault"} if "faults" in file.parts else set()
    if not any(f"mark.{mark}" in text for mark in MARKS):
        yield "", own
        return
    body = tree_of(file).body
    own |= {mark for node in body if isinstance(node, ast.Assign) for mark in _marks(node)}
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if node.name.lower().startswith("test"):
            cases: list[ast.AST] = [
                call
                for one in node.decorator_list
                for call in ast.walk(one)
                if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "param"
            ]
            of_cases = set().union(*map(_marks, cases))
            of_all = set().union(*map(_marks, node.decorator_list)) - of_cases
            yield from ((node.name, own | of_all | _marks(case)) for case in cases or [ast.Pass()])


def _marks(node: ast.AST) -> set[str]:
    return {
        one.attr
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute) and getattr(one.value, "attr", "") == "mark"
    } & MARKS


def test_each_test_is_in_a_stage() -> None:
    all_stages = list(stages())
    files = [path for path in tracked_files() if relative(path).startswith("tests/")]
    lost = [
        f"{relative(path)}::{name}: {sorted(marks)}"
        for path in files
        if path.name.startswith("test_") and path.suffix == ".py"
        for name, marks in marked(path)
        if not any(stage.takes(relative(path), marks) for stage in all_stages)
    ]

    assert len(all_stages) >= len(MARKS) + 1
    assert not lost, "no `make test...` runs these"
    chosen = re.findall(r"tests/\w+/\w+\.py", (ROOT / ".ci" / "run").read_text())
    assert len(chosen) > 20
    assert [one for one in chosen if not (ROOT / one).exists()] == []


def chosen_tests(wanted: str, words: Sequence[str]) -> str:
    """Return the names of the tests that pytest chooses."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-k", wanted, *words]
    said = subprocess.check_output(command, cwd=ROOT, text=True)
    return "\n".join(re.findall(r"^\S+::.+$", said, re.MULTILINE))


def filters() -> Iterator[tuple[str, list[str]]]:
    """Return each choice of tests by names in `.ci/run`, with what pytest chooses from."""
    text = (ROOT / ".ci" / "run").read_text()
    for kind, folder in (("FAULTS", "tests/faults"), ("BROKERS", "tests/transports")):
        yield re.findall(rf"^export WEFT_FULL_{kind}='(.+)'$", text, re.MULTILINE)[0], [folder]
    for mark, name, wanted in re.findall(r"test-(\w+)s \w+=(\w+) .*-k '(.+)'", text):
        files = [relative(path) for path in tracked_files() if path.name.startswith("test_")]
        marked_files = [one for one in files if f"mark.{mark}" in (ROOT / one).read_text()]
        yield wanted, ["-m", f'{mark}(name="{name}")', *marked_files]


@pytest.mark.parametrize(("wanted", "words"), [*filters()], ids=lambda one: str(one)[:30])
def test_each_word_of_a_choice_by_names_chooses_a_test(wanted: str, words: list[str]) -> None:
    names = chosen_tests(wanted, words)

    assert [
        one for one in {*re.findall(r"[\w-]+", wanted)} - {"and", "or"} if one not in names
    ] == []


def test_each_fault_point_is_called_and_fired() -> None:
    """Each stands in one place; tests that `.ci/run` chooses prove of each one that it fired."""
    text = "".join(path.read_text() for path in product_files().values())
    called = re.findall(r"(?<!def )\bfault_point\((.*?)\)", text)
    names = chosen_tests(*next(filters()))
    in_ci = [FIRED[where] for where in FIRED if re.search(f"/test_points.*{where}", names)]

    assert sorted(called) == [f'"{name}"' for name in sorted(POINTS)]
    assert set(POINTS) == set().union(*in_ci)


def test_skips_are_counted_and_a_stage_of_skips_alone_fails(tmp_path: Path) -> None:
    file = tmp_path / "test_engine.py"
    file.write_text("import pytest\n\ndef test_cluster():\n    pytest.skip('no cluster')\n")
    plugins = ["-p", "conftest", "-p", "no:schemathesis"]
    words = [*plugins, f"--rootdir={tmp_path}", "--no-empty-stage"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, file],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )

    assert "skipped: 1 — no cluster\nFAILED: no test of this stage passed" in done.stdout
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_examples_are_the_same_whatever_is_loaded() -> None:
    constants = HypothesisProvider(None)._local_constants

    assert not (settings().derandomize and [*constants])
