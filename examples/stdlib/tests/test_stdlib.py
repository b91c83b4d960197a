import json
from collections import Counter
from pathlib import Path

import pytest
from counting import PARTS, STDLIB, Count, measure_file, part_of, render, source_files
from demo import compared
from hypothesis import given
from hypothesis import strategies as st
from pipeline import make_pipeline

words = st.sampled_from(["self", "name", "os", "a", "b"])
counts = st.builds(
    Count,
    files=st.integers(0, 9),
    lines=st.integers(0, 999),
    tokens=st.integers(0, 999),
    names=st.builds(Counter, st.dictionaries(words, st.integers(1, 99))),
    lines_by_package=st.builds(Counter, st.dictionaries(words, st.integers(1, 99))),
    clones=st.dictionaries(
        words, st.tuples(st.integers(1, 9), st.tuples(words, st.integers(1, 99)), st.just(7))
    ),
)


def _sum(parts: list[Count]) -> Count:
    total = Count()
    for part in parts:
        total.add(part)
    return total


@given(st.lists(counts), st.randoms(use_true_random=False))
def test_report_does_not_depend_on_the_order(parts: list[Count], random: object) -> None:
    shuffled = parts[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis' own Random

    assert render(_sum(shuffled)) == render(_sum(parts))


@given(counts)
def test_result_reads_back(count: Count) -> None:
    assert Count.from_document(json.loads(json.dumps(count.to_document()))) == count


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of a library that has no other."""
    monkeypatch.setattr("counting.STDLIB", tmp_path)
    return tmp_path / "package" / "module.py"


def test_file_is_measured(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("import os\n\nos.name = os.sep\n")

    count = measure_file(file)

    assert (count.files, count.failures, count.lines, count.functions) == (1, 0, 3, 0)
    assert count.names == {"os": 3, "name": 1, "sep": 1}
    assert count.lines_by_package == {"package": 3}


def test_functions_that_differ_in_names_only_are_twins(file: Path) -> None:
    file.parent.mkdir()
    body = "def {0}({1}):\n    if {1}:\n        return 1\n    a = {1}.x\n    b = a\n    return b\n"
    file.write_text(
        body.format("f", "one") + body.format("g", "two") + body.format("h", "x").replace("1", "2")
    )

    count = measure_file(file)

    assert count.functions == 3
    assert sorted(uses for uses, _, _ in count.clones.values()) == [1, 2]
    assert (2, ("package/module.py", 1), 6) in count.clones.values()


@pytest.mark.parametrize("content", [b"(\n", b"\xff\n", b"  x\n y\n", b'"""\n'])
def test_file_that_is_no_python_counts_as_failure_with_its_lines(
    file: Path, content: bytes
) -> None:
    file.parent.mkdir()
    file.write_bytes(content)

    count = measure_file(file)

    assert (count.failures, count.tokens, count.names) == (1, 0, {})
    assert count.lines == len(content.splitlines())


def test_every_file_is_measured_once_and_every_part_merged_once(tmp_path: Path) -> None:
    jobs = make_pipeline(tmp_path)["jobs"]
    parents = {job["name"]: job["parents"] for job in jobs}

    merged = [parent for merge in parents["report"] for parent in parents[merge]]
    assert sorted(merged) == sorted(f"measure:{part}" for part in range(PARTS))
    assert sorted(path for part in range(PARTS) for path in part_of(part)) == source_files()


def test_installed_packages_are_not_measured() -> None:
    assert not any("site-packages" in path.relative_to(STDLIB).parts for path in source_files())


@pytest.mark.parametrize(
    ("seconds", "sequential", "told"),
    [
        (10.0, 25.0, "weft was 2.5 times as fast as the script"),
        (20.0, 10.0, "the script was 2.0 times as fast as weft"),
    ],
)
def test_demo_says_which_was_faster(seconds: float, sequential: float, told: str) -> None:
    assert compared(seconds, sequential) == told
