"""The asynchronous client, under the name by which programs import it: `weft.aio.Client`."""

from weft.client.aio import Client

__all__ = ["Client"]
