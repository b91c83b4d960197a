"""CEL's library without its command line, which imports one for terminals: half of its time."""

import sys
from types import ModuleType

sys.modules.setdefault("cel.cli", ModuleType("cel.cli"))

import cel  # noqa: E402 (behind what it shall not import)

__all__ = ["cel"]
