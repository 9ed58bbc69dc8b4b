"""Where distributions come from besides the usual index, as uv and pip are told of it."""

import re
import urllib.parse


def environment(indexes):
    """The variables that name indexes and pages of links: their URLs may hold passwords, and an argv is everybody's to read."""
    found = {}
    if indexes.get("indexUrl"):
        # The last is uv's newer name for the first, and wins where a host has it set.
        found = dict.fromkeys(("UV_INDEX_URL", "PIP_INDEX_URL", "UV_DEFAULT_INDEX"), indexes["indexUrl"])
    extra = _listed(indexes.get("extraIndexUrl"))
    if extra:
        found.update(dict.fromkeys(("UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"), " ".join(extra)))
    links = [_word(link) for link in _listed(indexes.get("findLinks"))]
    if links:
        found.update({"UV_FIND_LINKS": ",".join(links), "PIP_FIND_LINKS": " ".join(links)})
    return found


def arguments(indexes, uv):
    """The options that go with them; uv and pip name them alike."""
    found = []
    if uv and indexes.get("extraIndexUrl"):
        # pip takes the best of all indexes. uv would take only the first that knows the name: no `+cu130` from a second one.
        found.extend(["--index-strategy", "unsafe-best-match"])
    if indexes.get("findLinks") and not indexes.get("indexUrl") and not indexes.get("extraIndexUrl"):
        found.append("--no-index")
    return found


def _listed(value):
    return [value] if isinstance(value, str) else value or []


def _word(link):
    """A link without what separates links in a variable: uv splits at commas, pip at spaces."""
    if not re.search(r"[,\s]", link):
        return link
    if "://" in link:
        return re.sub(r"[,\s]", lambda one: "%%%02X" % ord(one.group()), link)
    return "file://" + urllib.parse.quote(link)
