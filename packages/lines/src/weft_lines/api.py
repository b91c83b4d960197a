"""The calls and pages of production lines, and `PUT /v1/setups/{setup}`, which takes the file of
one as it is.
"""

import sys
from pathlib import Path
from typing import Final

from weft.api.calls.call import calls_of
from weft.api.http.decoding import JSON, decode
from weft.api.http.parameters import setup_of
from weft.api.http.parts import ApiPart
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest, read_text
from weft.api.http.routing import Response, put, routes_in
from weft.core.access.rights import Right
from weft.wire.answers.setups import SetupSaved
from weft.wire.documents.batches import BatchDocument
from weft_lines.calls import lines, setup_trial, sinks, source_trial, sources
from weft_lines.pages import lines as pages
from weft_lines.rules.setup import SETUP_BYTES_MAX

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
    name, text = setup_of(request), await read_text(request, SETUP_BYTES_MAX)
    return reply(
        await lines.save_setup(
            request.services,
            request.caller,
            name,
            text,
            lambda body: decode(body, JSON, BatchDocument),
        )
    )


PART: Final = ApiPart(
    calls=calls_of(lines, setup_trial, sinks, sources, source_trial),
    routes=routes_in(sys.modules[__name__], pages),
    templates=Path(pages.__file__).parent / "templates",
)
"""What the api serves of them."""
