"""Run a warm process: `python -m weft.worker.warm RESULT_BYTES_MAX`. Calls come on file 3."""

import sys

from weft.worker.warm.serve import serve

if __name__ == "__main__":
    sys.exit(serve(result_bytes_max=int(sys.argv[1])))
