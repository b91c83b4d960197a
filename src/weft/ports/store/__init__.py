"""What passes between weft and its store: rows, requests and reports; and the port of workers.

`api` and `driver` have one store (`weft.store`), which needs no port. A worker's store has two
adapters, PostgreSQL and the api (`weft_link/worker/`), so it is a port: `WorkerStore`.
Errors are `WeftError`s; `Unavailable` means that the database cannot be reached now and the call
may be repeated.
"""

# ruff: noqa: F403 (a new row is an edit of one file)

from weft.ports.store.callers import *
from weft.ports.store.driver import *
from weft.ports.store.given import *
from weft.ports.store.offers import *
from weft.ports.store.queries import *
from weft.ports.store.submitted import *
from weft.ports.store.trail import *
from weft.ports.store.worker import *
from weft.ports.store.worker_files import *
