import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable

import pytest

from cases import cases
from weft.cli.commands.billing import print_csv
from weft.cli.input.documents import UnreadableDocument, format_of, parse_document
from weft.cli.terminal.screen import JsonItems, print_json, print_line

EXPECTED = {
    "name": "p",
    "attributes": {"day": "2026-01-31"},
    "jobs": [{"name": "a", "command": ["true"]}, {"name": "b", "parents": ["a"]}],
}
YAML = """
name: p
attributes: {day: 2026-01-31}
jobs:
  - name: a
    command: ["true"]
  - {name: b, parents: [a]}
"""
TOML = """
name = "p"
attributes = {day = 2026-01-31}
[[jobs]]
name = "a"
command = ["true"]
[[jobs]]
name = "b"
parents = ["a"]
"""
JSON = """{"name": "p", "attributes": {"day": "2026-01-31"},
"jobs": [{"name": "a", "command": ["true"]}, {"name": "b", "parents": ["a"]}]}"""


@cases(("file", "text"), [("p.yaml", YAML), ("p.YML", YAML), ("p.toml", TOML), ("p.json", JSON)])
def test_the_three_formats_say_the_same(file: str, text: str) -> None:
    for mark in (b"", b"\xef\xbb\xbf"):
        assert parse_document(mark + text.encode(), format_of(file), name=file) == EXPECTED


@cases(("text", "value"), [("010", 10), ("-0_7", -7), ("0x1f", 31), ("1_000", 1000), ("0", 0)])
def test_yaml_reads_the_numbers_that_were_meant(text: str, value: int) -> None:
    assert parse_document(f"a: {text}".encode(), "yaml", name="a") == {"a": value}


@cases(
    ("file", "body", "told"),
    [
        ("p.yaml", b"name: [", "p.yaml:2:1: "),
        ("p.yaml", b"name: [a\n\nfoo: 'x", "flow sequence that begins in line 1"),
        ("p.yaml", b"jobs:\n\t- name: a\n", "p.yaml:2:1: a tab cannot indent"),
        ("p.yaml", b"name: a\nb: \x07\n", "p.yaml:2:4: a control character"),
        ("p.yaml", b"a: 1\n---\nb: 2\n", "p.yaml:2:1: expected a single document"),
        ("standard input", b"a: b: c", "standard input:1:5: mapping values"),
        ("p.yaml", b"name: a\nname: b\n", "p.yaml:2:1: the key 'name' is given twice"),
        ("p.yaml", b"!!python/object/apply:os.system ['true']", "python/object"),
        ("p.yaml", b"- a\n- b\n", "not a mapping"),
        ("p.yaml", b"", "not a mapping"),
        ("p.yaml", b"name: a\nb: \xff", "p.yaml:2: byte 0xff is not UTF-8"),
        (
            "p.yaml",
            b"a0: &a0 w\n"
            + b"".join(
                b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10))
                for n in range(1, 9)
            ),
            "its aliases stand for more than",
        ),
        ("p.toml", b"name = \n", "p.toml:1:8: "),
        ("p.toml", b"[[queue]\n", "p.toml:1:8: expected ']]'"),
        ("p.toml", b'name = "a"\nname = "b"', "overwrite"),
        ("p.json", b'{"name": "a", "name": "b"}', "'name' is given twice"),
        ("p.json", b'{"name": }', "p.json:1:10: expecting value"),
        ("p.json", b"[" * 100_000, "p.json:1:101: it is nested more than 100 deep"),
        ("p.toml", b"a = '[' # [\nc = " + b"[" * 101 + b"]" * 101, "p.toml:2:105: it is nested"),
        ("p.yaml", b"a: \n  " + b"{a: " * 400 + b"}" * 400, "p.yaml:2:403: it is nested"),
        ("p.toml", b".".join([b"a"] * 102) + b" = 1", "p.toml: it is nested"),
        ("p.yaml", b"b: 1\na: " + b"9" * 20, "p.yaml:2:4: a number has more than 64 bits"),
        ("p.toml", b"b=1\na= -" + b"9" * 5000, "p.toml:2:4: a number has more than 64 bits"),
        ("p.toml", b"a= 0x" + b"f" * 17, "p.toml:1:4: a number has more than 64 bits"),
        ("p.json", b'{"a":' + b"9" * 20 + b"}", "p.json:1:6: a number has more than 64 bits"),
        ("p.yaml", b"a: !!int ''", "p.yaml: a tag such as !!int"),
        ("p.yaml", b"a: !!bool x", "p.yaml: a tag such as !!int"),
        ("p.json", b'{"a": "\\ud800"}', "surrogates not allowed"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(file: str, body: bytes, told: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse_document(body, "yaml" if file == "standard input" else format_of(file), name=file)

    assert "unicode string" not in caught.value.detail
    assert told in caught.value.detail
    assert caught.value.exit_code == 2


def test_another_format_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UnreadableDocument, match=r"p\.xml") as caught:
        format_of("p.xml")

    assert "--format" in caught.value.hint


def test_a_key_in_yaml_is_text() -> None:
    text = b"retry_with: [{on: [oom], memory: x2}]\nenv: {1: a, no: b, 2026-01-31: c}\nall: yes"

    assert parse_document(text, "yaml", name="f") == {
        "retry_with": [{"on": ["oom"], "memory": "x2"}],
        "env": {"1": "a", "no": "b", "2026-01-31": "c"},
        "all": True,
    }


def test_a_yaml_merge_is_no_repeated_key() -> None:
    text = b"a: &a {x: 1}\nb: {<<: *a, x: 2}\n"

    assert parse_document(text, "yaml", name="f")["b"] == {"x": 2}


EVIL = "a\x1b]0;title\x07\x9b31m\x7f\u202eb"
DOCUMENT = {"name": EVIL}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def items(document: object) -> None:
    found = JsonItems()
    found.print([document])
    found.end()


def printed(
    screen: io.StringIO, monkeypatch: pytest.MonkeyPatch, write: Callable[[], None]
) -> str:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", screen)
        write()
    return screen.getvalue()


@pytest.mark.parametrize("write", [print_json, print_line, items])
def test_json_says_the_same_and_steers_nothing(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[object], None]
) -> None:
    shown = printed(Terminal(), monkeypatch, lambda: write(DOCUMENT))
    piped = printed(io.StringIO(), monkeypatch, lambda: write(DOCUMENT))

    assert shown.replace("\n", "").isprintable()
    assert piped.replace("\n", "").isprintable()
    assert json.loads(shown) == json.loads(piped)


def test_commands_that_are_shown_steer_nothing() -> None:
    """Those of `weft each --dry-run --json`."""
    master, terminal = pty.openpty()
    weft = [sys.executable, "-m", "weft.cli", "each", "--dry-run", "--json", "echo"]
    given = f"{EVIL}\n".encode()
    subprocess.run(weft, input=given, stdout=terminal, check=True)
    shown = os.read(master, 10_000).decode()
    piped = subprocess.run(weft, input=given, capture_output=True, check=True).stdout.decode()
    for one in (master, terminal):
        os.close(one)

    assert shown.removesuffix("\r\n").isprintable()
    assert json.loads(shown) == json.loads(piped)


def test_csv_steers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"name": EVIL, "kind": "value", "cost": "1", "cost_by_resource": []}
    shown = printed(Terminal(), monkeypatch, lambda: print_csv("cohort", [row]))
    piped = printed(io.StringIO(), monkeypatch, lambda: print_csv("cohort", [row]))

    lines = shown.split("\n")
    assert all(one.isprintable() for one in lines)
    assert len(lines) == 3
    assert "\r\n" in piped
    assert EVIL in piped


@pytest.mark.parametrize(
    "text",
    [
        '{"jobs": [{"name": "a\\ud83d\\ude00"}]}',
        '{"jobs":\t[{"name":\t"a"}]}',
        '\n  {"jobs": [{"env": {"A": "b\x7f\x85\ufffe"}}]}\n',
        '{"jobs": [{"timeout_s": 6e2, "cwd": "\\/tmp"}]}',
        '{"jobs": [{"env": {"<<": "x", "' + "K" * 1100 + '": "v"}}]}',
    ],
)
def test_json_means_as_yaml_what_it_means_as_json(text: str) -> None:
    assert parse_document(text.encode(), "yaml", name="-") == json.loads(text)


def test_what_begins_like_json_may_be_yaml() -> None:
    found = parse_document(b"{jobs: [{name: a}]}", "yaml", name="-")

    assert found == {"jobs": [{"name": "a"}]}
