"""Jobs that run out of memory: the kernel kills them, and weft must say so of them alone."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from weft.client.api import Api
from weft_siege.evidence import Evidence
from weft_siege.load import Batch, Load, find_batch

KIND = "out of memory"
LIMIT_BYTES = 32 << 20
MEMORY = Path("/sys/fs/cgroup/memory")
"""Where the first version of cgroups has it; the second one is above."""


@contextmanager
def small_cgroup() -> Iterator[Path | None]:
    """Make a cgroup with little memory for as long as this lasts; None: only root may, and the
    kernel must have it.
    """
    is_first = MEMORY.exists()
    root, limit = MEMORY if is_first else MEMORY.parent, "limit_in_bytes" if is_first else "max"
    try:
        group = Path(tempfile.mkdtemp(prefix="weft-siege-", dir=root))
    except OSError:
        yield None
        return
    try:
        yield group if _limited(group / f"memory.{limit}") else None
    finally:
        with suppress(OSError):  # what lives in it is counted as left over
            group.rmdir()


def _limited(file: Path) -> bool:
    try:
        file.write_text(str(LIMIT_BYTES))
    except OSError:
        return False
    return True


class Hungry:
    """Submits batches with one such job, one batch at a time: two kills of one moment could not be
    told apart.
    """

    def __init__(self, group: Path, load: Load) -> None:
        self._group = group
        self._load = load
        self._last: Batch | None = None

    async def submit(self, client: Api, evidence: Evidence) -> None:
        """Submit one unless the last one is not over."""
        found = await find_batch(client, self._last) if self._last else None
        if found and not found["complete"]:
            return
        jobs = [evidence.hungry(self._group), *[evidence.quick()] * 3, evidence.slow(0.5)]
        self._last = await self._load.submit(client, KIND, evidence, jobs)
