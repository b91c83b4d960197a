"""The name of the batch of a run, and what people read of a job that failed."""

import re
import secrets
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

RUN_FILE: Final = Path(".snakemake/weft_run")
SHOWN_LINES: Final = 10
BEGUN: Final = "Building DAG of jobs..."
CHATTER: Final = re.compile(
    r"\[\w+ \w+ .*\d{4}\]$|(local)?(rule|checkpoint|group) .*:|Select jobs|Execute |Using shell"
    r"|Provided |Rules claiming|Assuming |    (input|output|log|jobid|benchmark|reason|wildcards"
    r"|threads|priority|resources): "
)
"""What Snakemake itself writes in a job before and between what the rule writes."""
ENDED: Final = re.compile(r"^(RuleException|Error in (rule|group))", re.MULTILINE)
FINISHED: Final = re.compile(r"^Finished jobid.*\n.* steps .*$", re.MULTILINE)


class Run:
    """A run of a workflow in this directory. One that was killed is gone on with."""

    def __init__(self) -> None:
        self.was_killed = RUN_FILE.exists()
        if not self.was_killed:
            now = time.strftime("%Y-%m-%d_%H:%M:%S")
            name = f"snakemake-{Path.cwd().name}-{now}-{secrets.token_hex(3)}"
            RUN_FILE.parent.mkdir(exist_ok=True)
            RUN_FILE.write_text(name)
        self.name = RUN_FILE.read_text()

    def end(self) -> None:
        """Note that nothing of it runs any more."""
        RUN_FILE.unlink(missing_ok=True)


def message(ref: str, why: str | None, log: bytes) -> str:
    """Return what one is told of a job that failed: its cause, and how its output begins."""
    text = log.decode(errors="replace")
    text = text.partition(BEGUN)[2] or text
    shown = _own(FINISHED.split(ENDED.split(text)[0])[-1]) or _own(text)
    lines = [f"weft job {ref} {why or 'failed'}", *(f"  {line[:300]}" for line in shown)]
    return "\n        ".join([*lines, f"All that it wrote: weft logs {ref}", ""])


def _own(text: str) -> Sequence[str]:
    """Return the first lines that are not Snakemake's."""
    lines = (line for line in text.splitlines() if line.strip() and not CHATTER.match(line))
    return list(islice(lines, SHOWN_LINES))
