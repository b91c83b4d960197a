"""Telemetry: the catalogue of log events, metrics and trace ids.

The only place where names of events and metrics are written. Must not decide anything and must
not fail the caller; log lines hold facts, never payloads and never secrets.
"""

import sys
from importlib import import_module
from typing import Any, cast

if "rich" not in sys.modules:
    # structlog would load it, which takes longer than the rest, for traces that `log` never draws.
    sys.modules["rich"] = cast("Any", None)
    import_module("structlog")
    del sys.modules["rich"]
