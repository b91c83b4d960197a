"""`/ui/assets`: style sheets and modules, which browsers keep for ever."""

from typing import Final

from weft.api.html.assets import PREFIX, assets
from weft.api.http.compression import accepts_gzip
from weft.api.http.pages import NO_MOMENT, get_page
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import OPEN, Response
from weft.core.errors import RouteNotFound

_KEEP: Final = "public, max-age=31536000, immutable"


@get_page(PREFIX + "/{digest:str}/{name:str}", OPEN, opt={**NO_MOMENT, "others": True})
async def read_asset(request: AnyRequest) -> Response[bytes]:
    """Read an asset by its name and the digest of its content."""
    asset = assets().get(request.path_params["name"])
    if asset is None or asset.path != request.scope["path"]:
        raise RouteNotFound(
            "this part of a page does not exist",
            detail="The page is of another version of weft.",
            hint="Load the page again.",
        )
    headers = {"content-type": asset.media, "cache-control": _KEEP, "vary": "accept-encoding"}
    if not accepts_gzip(request.headers.get("accept-encoding", "")):
        return Response(asset.data, headers=headers)
    return Response(asset.gzipped, headers={**headers, "content-encoding": "gzip"})
