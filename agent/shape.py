"""What our JSON files hold, by their names: one that somebody rewrote is told as such, and is not met as a surprise further in."""

import os

_TEXT = "a text"
_NUMBER = "a number"
_MAP = "a map"

#: Python's name of a JSON value => ours.
_KINDS = {
    dict: _MAP,
    list: "a list",
    str: _TEXT,
    bool: "true or false",
    int: _NUMBER,
    float: _NUMBER,
    type(None): "null",
}


class Each:
    """A map with the same shape behind each of its names."""

    def __init__(self, shape):
        self.shape = shape


class Maybe:
    """Null, or a shape."""

    def __init__(self, shape):
        self.shape = shape


#: A dict lists the names that must be there, and, with a `?`, those that may; what else is there is not looked at.
_STAGED = {"owner": _TEXT, "digest": _TEXT}
_SHAPES = {
    "claims.json": {"claims": Each({"owner": _TEXT, "urn": _TEXT, "since": _NUMBER})},
    "format.json": {"made?": [_TEXT]},
    "overlays.json": dict(_STAGED, overlays=[{"digest": _TEXT, "packages": Each(_TEXT)}]),
    "patches.json": dict(_STAGED, patches=[{"target": Each(_TEXT), "kind": _TEXT, "sha256": _TEXT}]),
    "venv.json": {"owner": _TEXT, "release": Maybe(_TEXT), "base": _MAP, "recipe": {"base": _MAP}},
    "env.json": {"owner": _TEXT, "id": _TEXT},
    "spec.json": {
        "supervisor": _TEXT,
        "stopTimeout": _NUMBER,
        "argv": [_TEXT],
        "environ": Each(_TEXT),
        "config": Maybe(_TEXT),
    },
    "current.json": {
        "owner": _TEXT,
        "venv": _TEXT,
        "release": _TEXT,
        "env": Maybe(_TEXT),
        "spec": _MAP,
        "activated": _NUMBER,
    },
    "job.json": {"id": _TEXT, "started": _NUMBER},
    "result.json": {"id": _TEXT, "state": _TEXT},
}
_VARIABLES = {"variables": Each(_TEXT)}
_RELEASE = {
    "recipe": _MAP,
    "site": _TEXT,
    "packages": Each(_TEXT),
    "patched": Each({"sha256": _TEXT, "path": _TEXT}),
    "made": _NUMBER,
}


def shape_of(path):
    """The shape of the file at this path; None when its name says nothing."""
    folder, name = os.path.split(path)
    if name.startswith("env-"):
        return _VARIABLES
    if os.path.basename(folder) == "releases":
        return _RELEASE
    return _SHAPES.get(name)


def misshapen(value, shape, at=""):
    """(where in the file, what is there, what should be) of the first thing that is not as its shape; None when all is."""
    if isinstance(shape, Maybe):
        return None if value is None else misshapen(value, shape.shape, at)
    expected = _MAP if isinstance(shape, (dict, Each)) else "a list" if isinstance(shape, list) else shape
    found = _KINDS[type(value)]
    if found != expected:
        return at, found, expected
    return _inside(value, shape, at)


def _inside(value, shape, at):
    if isinstance(shape, Each):
        parts = [(value[name], shape.shape, name) for name in sorted(value)]
    elif isinstance(shape, list):
        parts = [(one, shape[0], str(number)) for number, one in enumerate(value)]
    elif isinstance(shape, dict):
        wanted = [(name.rstrip("?"), name.endswith("?"), inner) for name, inner in sorted(shape.items())]
        missing = [name for name, optional, _ in wanted if not optional and name not in value]
        if missing:
            return _below(at, missing[0]), "nothing", _MAP if isinstance(shape[missing[0]], (dict, Each)) else "a value"
        parts = [(value[name], inner, name) for name, _, inner in wanted if name in value]
    else:
        return None
    for one, inner, name in parts:
        wrong = misshapen(one, inner, _below(at, name))
        if wrong:
            return wrong
    return None


def _below(at, name):
    return "%s.%s" % (at, name) if at else name
