"""Workers outside: they reach no database, and call the store through an api.

`serving` is the other end, beside each api: it calls the store for them, about what is theirs
(walk: `routes.call_link`, `serving.serving`, `serving.calls`, `weft.store`). `worker` is their own
end: a store, notices and signatures by frames (`ports/worker_link.py`), and what ships output.
"""

from weft.ports.extension import Extension, WorkersOutside

EXTENSION = Extension(
    api="weft.extensions.link.routes:PART",
    outside=WorkersOutside(
        served="weft.extensions.link.served:serving_link",
        source="weft.extensions.link.source:linked_source",
        examined="weft.extensions.link.doctor:examine_link",
    ),
)
