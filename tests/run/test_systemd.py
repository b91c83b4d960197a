"""Units of systemd as `weft install` writes them."""

from pathlib import Path

import pytest

from weft.run.systemd import write_units


@pytest.mark.parametrize(
    ("name", "assignment"),
    [
        ("plain", "WEFT_HOME=/srv/plain"),
        ("my weft", '"WEFT_HOME=/srv/my weft"'),
        ("50%done", "WEFT_HOME=/srv/50%%done"),
        ("%h", "WEFT_HOME=/srv/%%h"),
        ("it's", '"WEFT_HOME=/srv/it\'s"'),
        ('q"q', '"WEFT_HOME=/srv/q\\"q"'),
        ("back\\slash", '"WEFT_HOME=/srv/back\\\\slash"'),
        ("a$b", '"WEFT_HOME=/srv/a$b"'),
        ("grün ", '"WEFT_HOME=/srv/grün "'),
    ],
)
def test_home_in_a_unit_is_the_one_that_was_named(
    name: str, assignment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the rules of systemd.syntax(7) and systemd.unit(5)."""
    monkeypatch.setenv("HOME", "/home/u")
    (unit,) = [one for one in write_units(tmp_path, Path("/srv", name)) if one.stem == "weft"]

    assert f"\nEnvironment={assignment}\n" in unit.read_text()
