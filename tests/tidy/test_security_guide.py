"""The threat model names tests that exist."""

import re

from tidy.source_files import ROOT


def test_tests_that_the_threat_model_names_exist() -> None:
    named = set(re.findall(r"`(test_[a-z0-9_]+)`", (ROOT / "docs/security.md").read_text()))
    places = (ROOT / "tests", ROOT / "src/weft/testing")
    code = "".join(one.read_text() for top in places for one in top.rglob("*.py"))

    assert len(named) > 50
    assert [one for one in sorted(named) if f"def {one}(" not in code] == []
