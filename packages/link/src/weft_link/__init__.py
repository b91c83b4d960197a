"""Workers outside: they reach no database, and call the store through an api."""

from weft.ports.extension import Extension, WorkersOutside

EXTENSION = Extension(
    api="weft_link.routes:PART",
    outside=WorkersOutside(
        served="weft_link.served:serving_link",
        source="weft_link.source:linked_source",
        examined="weft_link.doctor:examine_link",
        joined="weft_link.joining:join",
    ),
)
