"""weft: a job system on PostgreSQL.

The names of this package are the public Python interface: `from weft import Client`. They are
loaded when they are first used, so that a process which needs one part of weft (the spawner) does
not pay for the rest. This file must not import anything at its top.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.client.sync import Client

__all__ = ["Client", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name == "Client":
        from weft.client.sync import Client  # noqa: PLC0415

        return Client
    raise AttributeError(f"module 'weft' has no attribute {name!r}")
