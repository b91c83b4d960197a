"""A spawner that starts every process in a thread."""

import sys

from weft.worker.spawner import starter
from weft.worker.spawner.__main__ import main

starter._QUICK_NS = -1
sys.exit(main(sys.argv[1:]))
