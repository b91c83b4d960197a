"""An extension of Sphinx for `make site`: what Markdown that reads well in the repository lacks.

- docs/README.md is the list of all pages, a part for each of its headings; pages of `site_below`
  stand below another page.
- `<!-- api: weft.Client -->` becomes what the docstrings of that class say.
- Docstrings are read as they are written: `code` is code, what is indented is an example.
- A link to a folder leads to its README, or is plain text: there is no public address of files.
- `index.html` leads to the first page.
"""

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from furo.navigation import get_navigation_tree
from pygments.lexers.special import TextLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment.adapters.toctree import global_toctree_for_doc
from sphinx.util.logging import getLogger

_API = re.compile(r"^<!-- api: (\S+) -->$", re.MULTILINE)
_LINK = re.compile(r"\]\(([\w./-]+)(?:#[\w-]*)?\)")
_FOREIGN = re.compile(
    r"""<(?:link|script|img|iframe)[^>]*(?:src|href)=["']?((?:https?:)?//[^"' >]+)"""
)
_EXAMPLE = re.compile(r"^(\S.*)\n\n(?=    )", re.MULTILINE)
_FUNCTION = """```{{eval-rst}}
.. autofunction:: {}
```"""
_CLASS = """```{{eval-rst}}
.. autoclass:: {}
   :members:
   :inherited-members: BaseException, Exception, dict, tuple
```"""
_INDEX = """<!doctype html>
<meta charset="utf-8"><title>weft</title>
<meta http-equiv="refresh" content="0; url={0}"><a href="{0}">weft</a>
"""

logger = getLogger(__name__)


def _page_of(page: str, target: str, pages: set[str]) -> str | None:
    """Return the page that a link leads to, if it leads to one."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    return next(
        (name for name in (path.removesuffix(".md"), f"{path}/README") if name in pages), None
    )


def _toctree(pages: list[str], *options: str) -> str:
    lines = ["", "```{toctree}", *options, *(f"/{page}" for page in pages), "```", ""]
    return "\n".join(lines)


def _parts(source: str, page: str, pages: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the headings of the first page, and which pages are named there for the first time."""
    seen = {page}
    for part in source.split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        linked = [_page_of(page, target, pages) for target in _LINK.findall(text)]
        new = [name for name in dict.fromkeys(linked) if name and name not in seen]
        seen.update(new)
        yield heading, new


@cache
def _lower(app: Sphinx) -> dict[str, list[str]]:
    """Return which pages stand below another one."""
    return {
        page: sorted(
            name
            for name in app.env.found_docs
            if name != page and any(fnmatch(name, pattern) for pattern in patterns)
        )
        for page, patterns in app.config.site_below.items()
    }


def _docstrings(at: re.Match[str]) -> str:
    is_class = at[1].rpartition(".")[2][0].isupper()
    return (_CLASS if is_class else _FUNCTION).format(at[1])


def _lists(app: Sphinx, *_: object) -> list[str]:
    """Return the pages that are read each time, as they list others that may be new."""
    return [app.config.root_doc, *app.config.site_below]


def _complete(app: Sphinx, page: str, sources: list[str]) -> None:
    """Put in what only a site needs."""
    sources[0] = _API.sub(_docstrings, sources[0])
    lower = _lower(app)
    if page == app.config.root_doc:
        top = app.env.found_docs - {name for names in lower.values() for name in names}
        for heading, names in _parts(sources[0], page, top):
            if names:
                sources[0] += _toctree(names, f":caption: {heading}", ":hidden:")
    elif page in app.config.site_lists:
        names = [posixpath.relpath(name, posixpath.dirname(page)) for name in lower[page]]
        sources[0] += "".join(f"\n- [](./{name}.md)" for name in names)
    elif page in lower:
        sources[0] += _toctree(lower[page], ":hidden:")
    elif any(page in lower[name] for name in app.config.site_lists):
        sources[0] = f"---\norphan: true\n---\n{sources[0]}"


def _link_folders(app: Sphinx, tree: nodes.document) -> None:
    """Let links to folders lead to a page; else they are text."""
    page = app.env.docname
    for link in list(tree.findall(addnodes.pending_xref)):
        target = link.get("reftarget", "")
        path = Path(app.srcdir, posixpath.dirname(page), target)
        if link.get("reftype") != "myst" or not target or not path.is_dir():
            continue
        readme = _page_of(page, target, app.env.found_docs)
        if readme is None:
            link.replace_self(link.children)
        else:
            link.attributes |= {"refdomain": "doc", "reftarget": readme, "reftargetid": None}


def _use_dashes(_app: Sphinx, tree: nodes.document) -> None:
    """Print a dash before the meaning of a parameter; no other text is changed."""
    for text in list(tree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def _as_rst(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Make of a docstring, in place, what Sphinx reads: literals and indented examples."""
    text = _EXAMPLE.sub(r"\1\n\n.. code-block:: python\n\n", "\n".join(lines))
    pieces = re.split(r"`([^`]+)`", text)
    pieces[::2] = [piece.replace("*", "\\*") for piece in pieces[::2]]
    pieces[1::2] = [f"``{' '.join(piece.split())}``" for piece in pieces[1::2]]
    lines[:] = "".join(pieces).split("\n")


@cache
def _all_pages(app: Sphinx) -> str:
    """Return the list of pages as it is beside pages of the top folder.

    Sphinx makes it anew for each page, out of the headings of all of them: most of the time.
    """
    tree = global_toctree_for_doc(
        app.env, "genindex", app.builder, tags=app.tags, maxdepth=-1, titles_only=True
    )
    pages: str = get_navigation_tree(app.builder.render_partial(tree)["fragment"])
    return pages


def _marked(item: re.Match[str], mark: str) -> str:
    opened = item[2].replace("<input", '<input checked=""')
    return f'<li class="{item[1]} {mark}">{opened}'


def _drop_toctree(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    context.pop("toctree", None)


def _add_all_pages(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """Put in the list of pages with this one marked, and the one above it opened."""
    pages = _all_pages(app)
    above = [name for name, names in _lower(app).items() if page in names]
    for name in (page, *above):
        uri = re.escape(app.builder.get_target_uri(name))
        item = re.compile(rf'<li class="([^"]*)">(<a [^>]*href="{uri}">.*?</a>(?:<input)?)')
        mark = "current current-page" if name == page else "current"
        pages = item.sub(lambda at: _marked(at, mark), pages)  # noqa: B023 (called at once)
    top = "../" * page.count("/")
    context["furo_navigation_tree"] = re.sub(r'(<a [^>]*href=")', rf"\1{top}", pages)


def _warn_of_assets(app: Sphinx, exception: Exception | None) -> None:
    """Warn, which fails in `make site`, if a page loads anything from elsewhere."""
    for path in Path(app.outdir).rglob("*.html") if exception is None else ():
        for asset in _FOREIGN.findall(path.read_text()):
            logger.warning("%s loads %s: pages must work offline", path, asset)


def _write_index(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        text = _INDEX.format(app.builder.get_target_uri(app.config.root_doc))
        Path(app.outdir, "index.html").write_text(text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_config_value("site_below", {}, "env")
    app.add_config_value("site_lists", [], "env")
    app.add_lexer("query", TextLexer)  # queries of jobs
    app.connect("env-get-outdated", _lists)
    app.connect("source-read", _complete)
    app.connect("autodoc-process-docstring", _as_rst, priority=400)  # before napoleon
    app.connect("html-page-context", _drop_toctree, priority=400)  # before furo
    app.connect("html-page-context", _add_all_pages, priority=600)
    app.connect("doctree-read", _link_folders)
    app.connect("doctree-read", _use_dashes)
    app.connect("build-finished", _write_index)
    app.connect("build-finished", _warn_of_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
