"""What the api serves of answers."""

from pathlib import Path
from typing import Final

from weft.api.http.parts import ApiPart
from weft.api.http.routing import routes_in
from weft_waits import calls, page

PART: Final = ApiPart(
    calls=calls.CALLS, routes=routes_in(page), templates=Path(__file__).parent / "templates"
)
