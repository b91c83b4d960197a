"""The catalogue of log events: every name that weft may log, with what it says and which facts it
carries.

A new event is one line here. A name is an interface: changing it or its keys needs a changelog
entry. After the dot between the two parts of a text stand the keys. Bound for all lines of a
process are `role` and `pid`, and while they are known `trace_id`, `batch`, `job`, `attempt` and
`worker`.
"""

from types import MappingProxyType

EVENTS = MappingProxyType(
    {
        # every role
        "role.started": "this process is ready · version, home",
        "role.stopping": "this process was told to end · signal",
        "role.stopped": "this process has ended cleanly · ms",
        "role.failed": "this process cannot go on · code, error, detail, hint",
        "library.logged": "a library said something · logger, message",
        "store.connected": "the database answers · server_version",
        "store.unavailable": "the database does not answer; calls are repeated · error, retry_ms",
        "store.recovered": "the database answers again · away_ms",
        "store.call_failed": "a database function raised · function, ms, error",
        "store.called": "a database function returned · function, ms, rows",
        "notices.lost": "the connection that listens was lost; it is made again · error",
    }
)
