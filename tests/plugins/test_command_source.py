"""The sources `command` and `schedule`: what programs print, and what clocks show."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from weft.ports.source import Reading, SourceFailed, SourceSite
from weft_lines.sources.command import CommandSource
from weft_lines.sources.schedule import ScheduleSource
from weft_testing.source_suite import SourceReader, SourceSuite


def read(code: str, cursor: Any = None, **site: Any) -> Reading:  # noqa: ANN401 (of several types)
    """Let Python be the program."""
    options = {"command": ["python", "-c", code]}
    where = SourceSite(commands={"python": sys.executable}, **site)
    return CommandSource().read(options, cursor, where)


def test_each_line_is_an_item() -> None:
    found = read('print(\'{"key": 7, "tile": "32TLR"}\\n\\nnonsense\\n{"tile": 1}\')')
    assert found.items[0].key == "7"
    assert [one.fields is None for one in found.items] == [False, True, True]
    assert found.items[0].fields == {"key": "7", "tile": "32TLR"}


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit('no licence')", "it ended with 1: no licence"),
        ("import signal; signal.pause()", "it did not end within 0.5 s"),
        ("import os, signal; os.close(1); signal.pause()", "it did not end within"),
        ("while True: print('x' * 1000)", "it printed more than 8 MiB"),
    ],
)
def test_bad_programs_fail_and_are_killed(
    code: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft_lines.sources.command._KILLED_AFTER_S", 0.5)
    timeout_s = 60.0 if "8 MiB" in why or "licence" in why else 1.0
    with pytest.raises(SourceFailed, match=why):
        read(code, timeout_s=timeout_s)


class TestPrograms(SourceSuite):
    def reader(self) -> SourceReader:
        code = "for n in range(0 if os.environ['WEFT_CURSOR'] else 3): print('{\"key\": %d}' % n)"
        code = f"import os\n{code}\nprint('{{\"cursor\": 7}}')"
        programs = {"python": sys.executable, "gone": "/gone"}
        site = SourceSite(commands=programs, items_max=1)
        return SourceReader(CommandSource(), {"command": ["python", "-c", code]}, site)

    def wrong_options(self) -> Mapping[str, Mapping[str, Any]]:
        return {"source_commands": {"command": ["ruby"]}, "No such": {"command": ["gone"]}}


class TestTimes(SourceSuite):
    def reader(self) -> SourceReader:
        since = (datetime.now(UTC) - timedelta(days=5)).isoformat()
        site = SourceSite(items_max=2)
        return SourceReader(ScheduleSource(), {"cron": "0 6 * * *"}, site, {"at": since})

    def wrong_options(self) -> Mapping[str, Mapping[str, Any]]:
        return {}


def test_schedule_has_one_item_for_each_time() -> None:
    options = {"cron": "0 6 * * *", "time_zone": "Europe/Berlin"}
    source, site = ScheduleSource(), SourceSite(items_max=2)
    first = source.read(options, None, site)
    assert not first.items
    now = datetime.now(UTC)
    cursor: Any = {"at": (now - timedelta(days=5)).isoformat()}
    keys: list[str] = []
    for n in range(4):
        found = source.read(options, cursor, site)
        cursor = found.cursor
        keys += [one.key for one in found.items]
        assert found.more == (n < 2)
    assert len(keys) == len(set(keys)) == 5
    for key in keys:
        at = datetime.fromisoformat(key)
        assert now - timedelta(days=5) <= at <= datetime.now(UTC)
        assert key[10:16] == "T06:00"
