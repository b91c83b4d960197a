"""Workers outside: they reach no database, and call the store through an api."""

from weft.ports.extension import Extension, WorkersOutside

EXTENSION = Extension(
    api="weft.extensions.link.routes:PART",
    outside=WorkersOutside(
        served="weft.extensions.link.served:serving_link",
        source="weft.extensions.link.source:linked_source",
        examined="weft.extensions.link.doctor:examine_link",
        joined="weft.extensions.link.joining:join",
    ),
)
