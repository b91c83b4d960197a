"""Every error that weft reports, in one tree.

    WeftError
    ├── Invalid (400, exit 2)            `errors` lists each offending field
    ├── Unauthenticated (401, exit 4)
    ├── Forbidden (403, exit 4)
    ├── NotFound (404, exit 2)           it does not exist, or you may not see it
    ├── Conflict (409, exit 4)
    ├── TooLarge (413, exit 2)
    ├── Unavailable (503, exit 3)        may work later
    │   └── DiskFull (507)
    └── Internal (500, exit 1)

Each leaf has a `code` (`AREA.FACT`, never reused), an HTTP status and an exit code of the
command line; an instance has a message (what happened), a detail (why) and a hint (what to do).
One that a function of the database raises has its `sqlstate`, too.
A new error is one class in the file of its area; `make errors` lists it in docs/errors.md.
Errors that only one adapter or command raises stand beside the code that raises them.
Messages follow PostgreSQL's style: lower case, no full stop; detail and hint are sentences.
"""

# ruff: noqa: F403 (so that a new error is an edit of one file)

from weft.core.errors.batches import *
from weft.core.errors.documents import *
from weft.core.errors.installation import *
from weft.core.errors.kinds import *
from weft.core.errors.requests import *
from weft.core.errors.users import *
from weft.core.errors.workers import *
