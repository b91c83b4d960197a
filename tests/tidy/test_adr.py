"""Each decision has a number of its own and begins with it."""

import re

from tidy.source_files import ROOT


def test_numbers_of_decisions() -> None:
    """Each is used once; those of merged decisions stay free."""
    found = sorted((ROOT / "docs" / "adr").glob("[!R]*.md"))

    numbers = [int(path.name[:4]) for path in found]

    assert len(set(numbers)) == len(numbers)
    assert [path.name for path in found if not re.match(r"\d{4}-[a-z]", path.name)] == []
    assert [
        path.name for path in found if not path.read_text().startswith(f"# {int(path.name[:4])}. ")
    ] == []
