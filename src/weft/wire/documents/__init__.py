"""What clients send, as msgspec structs: one file a subject.

Owns names, types and bounds of fields. The decoder checks types and plain ranges as declared here;
`submission/translation/` checks what depends on settings, other jobs or workers. An unknown field
is an error in every document.
`docs/reference/documents.md` and `/openapi.json` are made from these classes: `says` gives a field
its line there.
"""
