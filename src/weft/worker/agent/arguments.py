"""Large arguments of functions, fetched into files before their attempts are handed over."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from weft.core.attempt_key import AttemptKey
from weft.ports.store import WorkerStore
from weft.wire.plain_files import open_plain
from weft.wire.spec import JobSpec
from weft.worker.agent.parts import write_parts
from weft.worker.private_files import make_private

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class ArgumentFiles:
    """One file per attempt. The process of the call removes it when it has read it; what an
    attempt that never got so far left is removed when that ends.
    """

    def __init__(self, store: WorkerStore, directory: Path) -> None:
        self._store = store
        self._directory = directory
        self._there: set[str] = set()
        """Names of files that may exist."""

    def adopt(self, keys: Iterable[AttemptKey]) -> None:
        """Take over the files of these attempts, and remove those that an earlier agent left."""
        if not self._directory.exists():
            return
        kept = {key.name for key in keys}
        for file in self._directory.iterdir():
            if file.name in kept:
                self._there.add(file.name)
            else:
                file.unlink(missing_ok=True)

    async def fetch(self, key: AttemptKey, spec: JobSpec) -> JobSpec:
        """Return a spec that names the file with its arguments. Raise `OSError` if that cannot be
        written, `WeftError` if the payload is not whole.
        """
        function = spec.function
        assert function is not None
        assert function.arguments_digest is not None
        make_private(os.fspath(self._directory))
        file = self._directory / key.name
        self._there.add(key.name)
        with os.fdopen(open_plain(file, _FLAGS), "wb") as out:
            await write_parts(
                out, self._store.get_payload_part, key.batch_id, function.arguments_digest,
                what="its arguments are",
            )  # fmt: skip
        called = msgspec.structs.replace(function, arguments_file=str(file))
        return msgspec.structs.replace(spec, function=called)

    def remove(self, key: AttemptKey) -> None:
        """Remove the file of an attempt, if there is one."""
        if self._there and key.name in self._there:
            self._there.discard(key.name)
            (self._directory / key.name).unlink(missing_ok=True)
