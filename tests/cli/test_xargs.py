"""`weft each --xargs` makes the same commands as the xargs of this machine."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from weft.cli.app import run_command

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("xargs") is None, reason="xargs is not installed"),
]
SCRIPT = r'for word; do printf "%s\0" "$word"; done; printf "\1\0"'
COMMAND = ("sh", "-c", SCRIPT, "sh")
BASE = sum(len(word) + 1 for word in COMMAND)

INPUTS = st.lists(
    st.sampled_from(
        ["a", "bc", "def", "é", "END", "{}", ",", " ", "\t", "\n", "\n", "'", '"', "\\"]
    ),
    max_size=30,
).map("".join)
COUNTS = st.integers(1, 4).map(str)
OPTIONS = st.tuples(
    st.sampled_from([[], [], ["-0"], ["-d", ","], ["-d", "\\n"]]),
    st.one_of(
        st.just([]),
        COUNTS.map(lambda n: ["-n", n]),
        COUNTS.map(lambda n: ["-L", n]),
        st.just(["-I", "{}"]),
    ),
    st.one_of(st.just([]), st.integers(BASE + 1, BASE + 30).map(lambda n: ["-s", str(n)])),
    st.sampled_from([[], [], ["-x"]]),
    st.sampled_from([[], [], ["-E", "END"]]),
    st.sampled_from([[], [], ["-r"]]),
).map(lambda parts: list(chain.from_iterable(parts)))


def of_xargs(options: Sequence[str], command: Sequence[str], data: bytes) -> tuple[object, bool]:
    """Return the words that each command got, and whether all went well."""
    done = subprocess.run(
        ["xargs", *options, *command], input=data, check=False, capture_output=True
    )
    invocations = done.stdout.decode().split("\1\0")[:-1]
    return [one.split("\0")[:-1] for one in invocations], done.returncode == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPTIONS, INPUTS)
@example([], "")
@example([], "'\n")
@example(["-r"], " \n")
@example(["-I", "{}"], "")
@example(["-E", "END"], "a END b\n")
@example(["-E", "END", "-0"], "a\0END\0")
@example(["-L", "2"], "a b \nc\n\nd\ne\n")
@example(["-n", "2", "-x", "-s", str(BASE + 6)], "a b cc dddd\n")
@example(["-n", "2", "-x"], "a b c 'd\n")
@example(["-s", str(BASE + 4)], "a bbbb c\n")
@example(["-I", "{}", "-s", str(BASE + 6)], "a\nbbbbbbbbb\n")
def test_same_commands_as_xargs(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], options: list[str], text: str
) -> None:
    if text.endswith(("'", '"')):
        text += "\n"  # xargs overlooks a quote without a partner if it is the very last byte
    text = text.replace("\n", "\0") if "-0" in options else text
    file, data = tmp_path / "input", text.encode()
    file.write_bytes(data)
    command = (*COMMAND, "<{}>") if "-I" in options else COMMAND
    expected = of_xargs(options, command, data)

    capfdbinary.readouterr()
    words = ["each", "--xargs", "--dry-run", "--json", "-f", str(file), *options, "--", *command]
    exit_code = run_command(words)
    printed = capfdbinary.readouterr().out.splitlines()
    ours = [json.loads(line)["command"][len(COMMAND) :] for line in printed]

    assert (ours, exit_code == 0) == expected
