"""Run cells in a real kernel of notebooks, and print what it tells those who show them.

It runs in the environment of `tools/environment.sh notebook`, which has no weft: its cells find
that by the folders that are the first argument. The others are cells.
"""

import json
import sys

from jupyter_client.manager import start_new_kernel  # type: ignore[import-not-found]  # of the other environment

CELL_S = 60


def main() -> None:
    folders, *cells = sys.argv[1:]
    manager, client = start_new_kernel(startup_timeout=CELL_S)
    told: list[dict[str, object]] = []
    try:
        client.execute_interactive(f"import sys; sys.path += {folders.split(':')!r}")
        for cell in cells:
            client.execute_interactive(cell, timeout=CELL_S, output_hook=told.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    sys.stdout.write(json.dumps(told, default=str))


if __name__ == "__main__":
    main()
