"""Decisions are numbered one after the other, and each begins with its number."""

from tidy.source_files import ROOT


def test_numbers_of_decisions() -> None:
    found = sorted((ROOT / "docs" / "adr").glob("*.md"))

    assert [int(path.name[:4]) for path in found] == list(range(1, len(found) + 1))
    assert [
        path.name for path in found if not path.read_text().startswith(f"# {int(path.name[:4])}. ")
    ] == []
