"""Lines of mistakes in TOML files."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from cases import cases
from weft.cli.input.declared import NothingDescribed, refuse_nothing, tables_in
from weft.cli.input.documents import UnreadableDocument
from weft.cli.input.mistake_lines import point_to_lines
from weft.cli.input.toml_lines import toml_lines
from weft.core.errors import FieldError, Invalid

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
        "": 1, "queue": 2, "queue/0": 2, "queue/0/name": 3, "queue/0/guard": 4, "queue/1": 9,
        "queue/1/name": 10, "queue/1/pools": 11, "queue/1/limits": 14,
        "queue/1/limits/running": 14, "queue/1/flavours": 16,
        "queue/1/flavours/0": 16, "queue/1/flavours/0/cpu": 17,
        "queue/1/flavours/0/labels": 18, "queue/1/flavours/0/labels/rack": 19,
        "queue/1/flavours/1": 20, "queue/1/flavours/1/name": 21, "queue/1/flavours/1/cpu": 22,
    }  # fmt: skip


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
