"""The layout of SQL, which changes no token and keeps lines short."""

import re
from pathlib import Path

import pytest

import format_sql
from weft.sql import SqlFile, rights_in

FILES = format_sql.files()
LONG = 80
"""A token of more characters may make a line too long: nothing breaks it."""
PACKED = """\
-- f: does.   Owner: weft_tenant.  Granted to: weft_api.
CREATE FUNCTION weft.f(a int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_a int; v_b int; -- both
BEGIN IF a > 1 THEN v_a := 2; END IF;  -- or not
END $$;
"""
LAID = """\
-- f: does.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE FUNCTION weft.f(a int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    -- both
    v_a int;
    v_b int;
BEGIN
    -- or not
    IF a > 1 THEN
        v_a := 2;
    END IF;
END $$;
"""


def bare(text: str) -> str:
    """Return SQL without comments and white space outside of literals; those that stand on lines
    below each other are one.
    """
    text = re.sub(r"(?<!')'[ \t]*\n\s*'(?!')", "'\\\\n'", text)
    return re.sub(r"(\'(?:[^\']|\'\')*\')|--[^\n]*|\s+", lambda found: found[1] or "", text)


@pytest.mark.slow
def test_layout_changes_nothing_that_the_database_gets() -> None:
    """The tokens of a file are equal, and so is what its head and its names stand for; a second
    time changes nothing (`formatted` refuses otherwise).
    """
    different, rights, long = [], [], []
    for path in FILES:
        source = path.read_text()
        laid = format_sql.formatted(source)
        tokens, words = format_sql.facts_of(format_sql.read(laid))
        before, after = SqlFile(path.stem, source), SqlFile(path.stem, laid)
        is_same = (tokens, words) == format_sql.facts_of(format_sql.read(source))
        if not is_same or bare(before.text) != bare(after.text):
            different.append(path.name)
        if rights_in(source) != rights_in(laid) or bool(rights_in(source)) != ("Owner:" in source):
            rights.append(path.name)
        texts = [part for token in tokens for part in token.split("\n") if len(part) > LONG]
        long += [
            f"{path.name}: {line}"
            for line in laid.splitlines()
            if len(line) > format_sql.WIDTH and not any(text in line for text in texts)
        ]

    assert len(FILES) > 900
    assert (different, rights, long) == ([], [], [])


@pytest.mark.parametrize(
    ("source", "laid"),
    [
        (PACKED, LAID),
        (
            "WITH x AS (SELECT 1), y AS (SELECT 2) SELECT * FROM x, y WHERE a AND b\n",
            "WITH x AS (SELECT 1),\ny AS (SELECT 2)\nSELECT *\nFROM x, y\nWHERE a AND b\n",
        ),
        ("SELECT 'a  b', E'\\'--' -- c\n", "SELECT 'a  b', E'\\'--'  -- c\n"),
        ("SELECT 'a'\n       'b';\n", "SELECT 'a'\n    'b';\n"),
        ("SELECT $x$ a;  b $x$;\n\n\n\nSELECT 2;\n", "SELECT $x$ a;  b $x$;\n\nSELECT 2;\n"),
    ],
)
def test_statements_are_laid_out(source: str, laid: str) -> None:
    assert format_sql.formatted(source) == laid


def test_a_layout_that_changed_a_token_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.sql"
    file.write_text("SELECT  1;\n")
    monkeypatch.setattr(format_sql.Lines, "write", lambda self, *_, **__: self.lines.append("1"))

    assert format_sql.main([str(file)]) == 1
    assert file.read_text() == "SELECT  1;\n"
    assert "the tokens would differ" in capsys.readouterr().err


def test_what_is_not_laid_out_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "f.sql"
    file.write_text("SELECT 1; SELECT 2;\n")

    assert format_sql.main(["--check", str(file)]) == 1
    assert "f.sql is not formatted" in capsys.readouterr().err
    assert format_sql.main([str(file)]) == 0
    assert format_sql.main(["--check", str(file)]) == 0
