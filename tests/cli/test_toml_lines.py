"""Lines of mistakes in TOML files."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cases import cases
from weft.cli.input.declared import NothingDescribed, refuse_nothing, tables_in, text_of
from weft.cli.input.documents import UnreadableDocument
from weft.cli.input.line_texts import with_texts
from weft.cli.input.mistake_lines import point_to_lines
from weft.cli.input.option_names import name_options
from weft.cli.input.options import SHARED
from weft.cli.input.toml_lines import toml_lines
from weft.core.errors import FieldError, Invalid, InvalidSetup
from weft_lines.commands.line import _text_of
from weft_lines.rules.setup import parse_setup

FILE = """# two queues
[[queue]]
name = "a"
guard = \"\"\"
x = 1
[[queue]]
\"\"\"

[[queue]]
name = "b"
pools = [
  "x",
]
limits.running = 3

[[queue.flavours]]
cpu = 1
[queue.flavours.labels]
rack = "12"
[[queue.flavours]]
name = "large"
cpu = "x"
"""


def test_each_key_and_table_has_its_line() -> None:
    lines = toml_lines(FILE.replace("\n", "\r\n"))

    assert {"/".join(path): line for path, line in lines.items()} == {
        "": 1,
        "queue": 2,
        "queue/0": 2,
        "queue/0/name": 3,
        "queue/0/guard": 4,
        "queue/1": 9,
        "queue/1/name": 10,
        "queue/1/pools": 11,
        "queue/1/limits": 14,
        "queue/1/limits/running": 14,
        "queue/1/flavours": 16,
        "queue/1/flavours/0": 16,
        "queue/1/flavours/0/cpu": 17,
        "queue/1/flavours/0/labels": 18,
        "queue/1/flavours/0/labels/rack": 19,
        "queue/1/flavours/1": 20,
        "queue/1/flavours/1/name": 21,
        "queue/1/flavours/1/cpu": 22,
    }


@cases(
    ("pointer", "place"),
    [
        ("/queues/1/pools/0", "q.toml:11: queue 'b', pools.0"),
        ("/queues/1/flavours/0/labels/rack", "q.toml:19: queue 'b', flavour 1, labels.rack"),
        ("/queues/1/flavours/1/cpu", "q.toml:22: queue 'b', flavour 'large', cpu"),
        ("/queues/0/priority", "q.toml:2: queue 'a', priority"),
    ],
)
def test_mistake_is_placed_in_the_innermost_line_that_is_there(pointer: str, place: str) -> None:
    error = Invalid("wrong", errors=[FieldError(pointer, "it is wrong")])
    queues = tables(FILE.encode())
    point_to_lines(error, file="q.toml", body=FILE.encode(), document={"queues": queues})

    assert error.errors[0].pointer == place


def tables(body: bytes) -> list[Mapping[str, object]]:
    return list(tables_in(Path("q.toml"), body, "queue", example="…", otherwise="…"))


@pytest.mark.parametrize("body", [b"", b"# later\n", b"queue = []"])
def test_file_without_tables_is_refused(body: bytes) -> None:
    with pytest.raises(NothingDescribed):
        refuse_nothing(Path("q.toml"), "queue", tables(body))


@cases("body", [b"\n[job]\nx = 1", b"\n[[job]]", b"\n[queue]", b"\njob = 1"])
def test_other_table_is_told_with_its_line(body: bytes) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        tables(body)

    assert caught.value.detail.startswith("q.toml:2: it has ")


LINE = """
[source.l1c]
query = { type = "L1C", geometry = "@areas/eea39.wkt" }
[sink.portal]
message = '@scene.json.tmpl'
[job.x]
command = ["curl", "-d", "@scene.json.tmpl"]
"""


def test_texts_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "areas").mkdir()
    (tmp_path / "areas" / "eea39.wkt").write_text("POLYGON((1 2))\n")
    template = '{"a": "\\u00e9 \x7f",\n "b": {{ job.id | tojson }}}'
    (tmp_path / "scene.json.tmpl").write_text(template)
    found = tomllib.loads(with_texts(LINE, tmp_path))
    assert found["source"]["l1c"]["query"] == {"type": "L1C", "geometry": "POLYGON((1 2))"}
    assert found["sink"]["portal"]["message"] == template
    assert found["job"]["x"]["command"][2] == "@scene.json.tmpl"


@pytest.mark.parametrize("name", ["/etc/hostname", "../x", "missing.wkt"])
def test_file_that_is_not_beside_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetup):
        with_texts(LINE.replace("areas/eea39.wkt", name), tmp_path)


def test_values_are_written_for_people() -> None:
    """Lists of tables, too: nobody reads Python in what a file changes."""
    rules = [{"codes": "1-9", "tries": 3}, {"codes": "10", "tags": ["a", "b"]}]
    assert text_of(rules) == "codes 1-9, tries 3; codes 10, tags a, b"
    assert text_of(["true", 1, []]) == "true, 1, "


@cases(
    ("text", "told"),
    [
        (None, "No such file"),
        ("[sink.x\na = 1", "a.toml:1:8: expected ']'"),
        (f"a = 1\nb = {'[' * 101}{']' * 101}", "a.toml:2:105: it is nested more than 100 deep"),
    ],
)
def test_file_that_cannot_be_read_is_named_with_its_place(text: str | None, told: str) -> None:
    with TemporaryDirectory() as directory:
        file = Path(directory, "a.toml")
        if text is not None:
            file.write_text(text)
        with pytest.raises(UnreadableDocument) as raised:
            _text_of(file, SHARED)
    assert told in raised.value.detail


def test_what_the_api_refuses_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[sink.x]\nkind = "http"\nurl = "http://a"\ncolour = 1\n')
    text, naming = _text_of(tmp_path / "a.toml", SHARED)
    with pytest.raises(InvalidSetup) as raised, naming:
        parse_setup(text)
    name_options(raised.value, "line")
    told = [str(one) for one in raised.value.errors]
    assert f"{tmp_path}/a.toml:4: sink.x.colour: a sink of kind http has no such field" in told[0]
