"""The other end of the link of workers outside: it calls the store for them, about what is theirs.

A token says which pool and which names; an incarnation belongs to the token that registered it.
What no incarnation limits by itself is answered for its live attempts only.
"""

from weft.extensions.link.serving.serving import WorkerLink

__all__ = ["WorkerLink"]
