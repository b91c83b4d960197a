"""The buttons of the list of batches that save its query, and forget a saved one."""

from weft.api.calls.path_ids import SAVED_QUERY
from weft.api.http.pages import link, post_form
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect
from weft.api.use_cases import saved_queries
from weft.core.access.rights import Right
from weft.extensions.pages.forms import back_to, check_form
from weft.wire.documents.saved_queries import SavedQueryDocument


@post_form("/ui/saved-queries", Right.WRITE)
async def press_save_query(request: AnyRequest) -> Redirect:
    """Save the query of the list under the name that was typed."""
    form = await check_form(request)
    services = request.services
    name: str = SAVED_QUERY.parse(form.get("name", [""])[-1].strip(), services.settings)
    query = form.get("q", [""])[-1].strip()
    document = SavedQueryDocument(query)
    await saved_queries.save_query(services, request.caller, name, document)
    return back_to(link("/ui/batches", {"q": query}))


@post_form("/ui/saved-queries/remove", Right.WRITE)
async def press_remove_query(request: AnyRequest) -> Redirect:
    """Forget a saved query."""
    form = await check_form(request)
    services = request.services
    name: str = SAVED_QUERY.parse(form.get("name", [""])[-1], services.settings)
    await saved_queries.remove_saved_query(services, request.caller, name)
    return back_to(link("/ui/batches", {"q": form.get("q", [""])[-1].strip()}))
