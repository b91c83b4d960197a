"""`PUT /v1/setups/{setup}`, which takes the file of a production line as it is."""

from typing import Final

from weft.api.http.decoding import JSON, decode
from weft.api.http.parameters import setup_of
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest, read_text
from weft.api.http.routing import Response, put
from weft.core.access.rights import Right
from weft.extensions.lines.calls import lines
from weft.wire.answers.lines import SetupSaved
from weft.wire.documents.batches import BatchDocument

TOML: Final = "application/toml"


@put(
    "/v1/setups/{setup:str}",
    Right.OPERATE,
    opt={"answer": SetupSaved, "reads": TOML, "refuses": (409, 413)},
)
async def save_setup(request: AnyRequest) -> Response[bytes]:
    """Save the file of a production line: whole, or not at all. New batches get its lifecycles,
    jobs keep theirs.
    """
    name, text = setup_of(request), await read_text(request)
    return reply(
        await lines.save_setup(
            request.services,
            request.caller,
            name,
            text,
            lambda body: decode(body, JSON, BatchDocument),
        )
    )
