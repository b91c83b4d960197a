"""Composition roots, one per role, and `up`, which runs all of them on one machine.

The only code that picks adapters. Must not decide anything about jobs.
"""

import gc
import sys

if sys.argv[:1] == ["-m"]:  # a program of ours begins: loading it takes a sixth less without
    gc.disable()


def collect_garbage() -> None:
    """Let the collector work from now on; what is there, as modules and classes, stays."""
    gc.freeze()
    gc.enable()
