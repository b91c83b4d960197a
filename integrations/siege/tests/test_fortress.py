import os
import subprocess
import sys
from pathlib import Path

from weft_siege.fortress import Fortress


def test_the_worker_outside_is_woken_too(tmp_path: Path) -> None:
    """It has a home of its own, and is started in another way than the others."""
    fortress = Fortress(tmp_path / "home", 3)
    words = [sys.executable, "-c", "import time; time.sleep(60)", "weft.run.worker"]
    environ = {**os.environ, "WEFT_HOME": str(tmp_path / "home" / "outside")}
    with subprocess.Popen(words, env=environ) as worker:
        try:
            found = fortress.leftovers()
        finally:
            worker.kill()

    assert list(found) == [worker.pid]
