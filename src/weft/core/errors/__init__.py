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

from weft.core.errors.apps import *
from weft.core.errors.batches import *
from weft.core.errors.billing import *
from weft.core.errors.callbacks import *
from weft.core.errors.conditions import *
from weft.core.errors.database import *
from weft.core.errors.documents import *
from weft.core.errors.events import *
from weft.core.errors.exec import *
from weft.core.errors.file_stores import *
from weft.core.errors.files import *
from weft.core.errors.functions import *
from weft.core.errors.groups import *
from weft.core.errors.installation import *
from weft.core.errors.jobs import *
from weft.core.errors.kinds import *
from weft.core.errors.licences import *
from weft.core.errors.lifecycles import *
from weft.core.errors.lines import *
from weft.core.errors.link import *
from weft.core.errors.logins import *
from weft.core.errors.operations import *
from weft.core.errors.output import *
from weft.core.errors.parameters import *
from weft.core.errors.pools import *
from weft.core.errors.products import *
from weft.core.errors.projects import *
from weft.core.errors.queries import *
from weft.core.errors.queues import *
from weft.core.errors.quotas import *
from weft.core.errors.requests import *
from weft.core.errors.rights import *
from weft.core.errors.schedules import *
from weft.core.errors.secrets import *
from weft.core.errors.sessions import *
from weft.core.errors.sinks import *
from weft.core.errors.sources import *
from weft.core.errors.tenants import *
from weft.core.errors.tokens import *
from weft.core.errors.transports import *
from weft.core.errors.updates import *
from weft.core.errors.users import *
from weft.core.errors.waits import *
from weft.core.errors.workers import *
