"""A spawner whose threads share one umask, as where the system refuses to separate them."""

import sys

from weft.worker.spawner import starter
from weft.worker.spawner.__main__ import main

starter._QUICK_NS = -1
starter.own_umask = lambda: False  # type: ignore[attr-defined]
sys.exit(main(sys.argv[1:]))
