"""The asynchronous client, under the name by which programs import it: `weft.aio.Client`."""

from weft.client.aio import (
    Batch,
    BatchBuilder,
    Client,
    GroupBuilder,
    Job,
    JobGroup,
    JobTree,
    JobTreeBuilder,
)

__all__ = [
    "Batch",
    "BatchBuilder",
    "Client",
    "GroupBuilder",
    "Job",
    "JobGroup",
    "JobTree",
    "JobTreeBuilder",
]
