"""docs/guides/tenants.md does what it says: its commands run, in order, and print what stands
there, but for figures and dates.
"""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.test_guide import commands_of

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(400)]
GUIDE = Path(__file__).parents[2] / "docs/guides/tenants.md"
BATCH = {"groups": [{"path": "/train"}], "jobs": [{"count": 20, "group": "/train"}]}
MESSAGE = re.compile(
    r"(?:tenant acme|secret db-password|bob|each user|user bob|genomics|b12/train|b12|b12\.j7)"
    r"(?: is| has| may|:) .*"
)
"""A line that tells what was changed; those with figures of what is used go on after these."""
ELSEWHERE = ("paused at its limit", "token is not shown again")
NOT_HERE = re.compile(r"^(?:export|WEFT_|weft (?:open|session rm))|[|]")
"""What needs another program, the setting of another server or a browser."""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Weft]:
    """Give a weft whose users and quotas are nobody else's."""
    weft = Weft(tmp_path)
    assert weft.run("up", "--port", "0", "--detach").returncode == 0
    yield weft
    weft.run("down")


def test_commands_of_the_guide(own: Weft) -> None:
    me = json.loads(own.run("whoami", "--json").stdout)["user"]
    batch = own.run("submit", "-", "--format", "json", stdin=json.dumps(BATCH).encode())
    here = batch.stdout.decode().strip()
    wrong: list[tuple[str, ...]] = []
    tables = []
    for command, text in commands_of(GUIDE.read_text()):
        if NOT_HERE.search(command):
            continue
        typed = re.sub(r"\bb12\b", here, command.replace(" ada", f" {me}"))
        typed, _, file = typed.partition(" < ")
        done = own.run(*shlex.split(typed)[1:], stdin=b"swordfish" if file else None)
        out, err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == 0, (command, out, err)
        first = text.partition("\n")[0]
        if "  " in first:
            tables.append(command)
            if re.split(r" {2,}", first) != out.partition("\n")[0].split("\t"):
                wrong.append((command, out))
        wrong += [(command, line, err) for line in _missing(text, err, me, here)]
        if command.startswith("weft user rm"):
            own.run("user", "add", "bob")

    assert wrong == []
    assert len(tables) >= 9


def _missing(text: str, said: str, me: str, batch: str) -> list[str]:
    """Return the messages of the guide that a command did not print."""
    return [
        line
        for line in text.splitlines()
        if MESSAGE.fullmatch(line) and not any(part in line for part in ELSEWHERE)
        if re.sub(
            r"\bb12\b", batch, line.partition(" used")[0].rpartition("; ")[0] or line
        ).replace(" ada", f" {me}")
        not in said
    ]
