"""The files that attempts left at their engine, put where the agent looks for them."""

import asyncio
import os
from pathlib import Path

from weft.core.attempt_key import AttemptKey
from weft.core.files.products import WrongProducts
from weft.plugins.runners.remote.engine import Engine, Left
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Ended, without_products


class LeftFiles:
    """The directories of a worker for what attempts say at their ends; None: it has none."""

    def __init__(self, limits: ExecutorLimits | None) -> None:
        self._products = "" if limits is None else limits.product_files
        self._asks = "" if limits is None else limits.block_files

    async def bring(self, engine: Engine, ended: Ended) -> Ended:
        """Ask for what an attempt left, and write it; return how its end is to be reported."""
        if not ended.started_ns or not (self._products or self._asks):
            return ended
        try:
            left = await engine.left(ended.key.name)
        except WrongProducts as error:
            return without_products(ended, str(error))
        if left != Left():
            await asyncio.to_thread(self._put, ended.key, left)
        return ended

    def _put(self, key: AttemptKey, left: Left) -> None:
        """Write; the agent removes it when the end is recorded."""
        for directory, content in ((self._products, left.products), (self._asks, left.ask)):
            if directory and content:
                Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)
                path = Path(directory, key.name)
                path.unlink(missing_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                    file.write(content)
