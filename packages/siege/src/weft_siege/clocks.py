"""Clocks that are turned, by libfaketime in front of what the siege starts."""

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from weft.core.errors import Invalid
from weft.settings import outer_environment

ACT = "clock"
"""Before how far it is turned, as the library reads it."""
_TRIED_S = 1000
_NEAR_S = 100


class Clocks:
    """One for each role, in a file that the library reads once a second: at each look at the time
    it took half of two cores.
    """

    def __init__(self, library: Path, directory: Path) -> None:
        self._library, self._directory = library, directory
        self.turn("", f"{ACT}+{_TRIED_S}")
        words = [sys.executable, "-I", "-S", "-c", "import time; print(time.time())"]
        environ = {**outer_environment(), **self.environment("")}
        said = subprocess.run(words, check=False, capture_output=True, text=True, env=environ)
        ahead_s = float(said.stdout or 0) - time.time() - _TRIED_S
        if abs(ahead_s) > _NEAR_S:
            raise Invalid(
                f"{library} turns no clock",
                detail=said.stderr or "The time was the same.",
                hint="apt install libfaketime; it is …/faketime/libfaketimeMT.so.1.",
            )

    def environment(self, role: str) -> Mapping[str, str]:
        """Return what a role is started with. Only what people set is turned: nothing that counts
        from the start of the machine.
        """
        self.turn(role, f"{ACT}+0", anew=False)
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file(role)),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DISABLE_SHM": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def turn(self, role: str, act: str, *, anew: bool = True) -> None:
        """Turn the clock of a role; a reader finds the file whole."""
        file = self._file(role)
        if anew or not file.exists():
            new = file.with_suffix(".new")
            new.write_text(act.removeprefix(ACT))
            new.replace(file)

    def turn_back(self, role: str, act: str) -> None:
        """End this act, unless another one has come since."""
        if self._file(role).read_text() == act.removeprefix(ACT):
            self.turn(role, f"{ACT}+0")

    def _file(self, role: str) -> Path:
        return self._directory / f"{ACT}-{role}"
