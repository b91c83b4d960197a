"""The cells of the table of jobs: each column has one, and texts of others stay text."""

import re

from weft.api.html.render import job_cells
from weft.extensions.pages.batches import COLUMNS, NUMBERS

HOSTILE = '<script>alert(1)</script>"&\u202e\x1b[31m'
JOB = {
    "name": HOSTILE, "index": None, "state": "failed", "held": True, "reason": "exit",
    "exit_code": 3,
    "attempt": 2, "duration_ms": 1500, "started_at": "2026-11-22T10:00:00+00:00",
    "ended_at": None, "ready_at": None, "user": HOSTILE, "queue": None, "priority": -1,
    "cost": 0.001, "group_id": 7, "message": HOSTILE, "attributes": {HOSTILE: HOSTILE, "k": "v"},
}  # fmt: skip
TAG = re.compile(r'</?(?:td|span|bdi|time)(?: (?:class|datetime)="[\w :+-]*")?>')


def test_texts_of_others_stay_text_in_every_column() -> None:
    cells = job_cells(JOB, tuple(COLUMNS), NUMBERS)
    text = TAG.sub("", cells)

    assert cells.count("<td") == len(COLUMNS)
    assert not re.search('[<>"\x1b\u202e]', text)
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;&#34;&amp;") == 5
    assert "&lt; 0.01" in text


def test_cells_show_what_the_columns_are_called() -> None:
    cells = job_cells(JOB, ("state", "reason", "queue", "priority"), NUMBERS).splitlines()

    assert cells == [
        '<td><span class="badge s-failed">failed</span> <span class="badge">held</span></td>',
        "<td>exit code 3</td>",
        "<td><bdi>–</bdi></td>",
        '<td class="n">-1</td>',
    ]
