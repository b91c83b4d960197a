import json
from collections import Counter
from pathlib import Path

import pytest
from counting import Count, count_file, letter_of, packages, render
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


def test_file_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("import os\n\nos.name = os.sep\n")

    count = count_file("module", file)

    assert (count.files, count.failures, count.lines) == (1, 0, 3)
    assert count.names == {"os": 3, "name": 1, "sep": 1}
    assert count.lines_by_package == {"module": 3}


@pytest.mark.parametrize("content", [b"(\n", b"\xff\n", b"  x\n y\n", b'"""\n'])
def test_file_that_is_no_python_counts_as_failure_with_its_lines(
    tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "broken.py"
    file.write_bytes(content)

    count = count_file("broken", file)

    assert (count.failures, count.tokens, count.names) == (1, 0, {})
    assert count.lines == len(content.splitlines())


def test_every_package_is_counted_once_and_merged_under_its_letter(tmp_path: Path) -> None:
    jobs = make_pipeline(tmp_path)["jobs"]
    parents = {job["name"]: job["parents"] for job in jobs}

    letters = {letter_of(package) for package in packages()}
    assert set(parents["report"]) == {f"merge:{letter}" for letter in letters}
    merged = [parent for letter in letters for parent in parents[f"merge:{letter}"]]
    assert sorted(merged) == [f"count:{package}" for package in packages()]


def test_neither_tests_nor_installed_packages_are_counted() -> None:
    assert {"test", "site-packages"} & set(packages()) == set()
