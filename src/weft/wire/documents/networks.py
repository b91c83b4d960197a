"""What a job says about the network."""

from typing import Annotated

from weft.wire.description import says

JobNetwork = Annotated[
    bool | None,
    says(
        "`false`: it runs without network, and not at all on a worker that cannot see to that. "
        "Otherwise its worker decides.",
        False,  # noqa: FBT003 (an example)
    ),
]
