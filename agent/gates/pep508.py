"""Requirements as metadata writes them: `torch[opt]>=2.1; python_version < "3.13"` (PEP 508), and whether their marker holds."""

import re

from agent.gates import pep440

HEAD = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?\s*")
TOKEN = re.compile(r"\s*(\(|\)|'[^']*'|\"[^\"]*\"|===|==|~=|!=|<=|>=|<|>|not\s+in\b|in\b|and\b|or\b|[a-z_.]+)")
VERSIONS = ("python_version", "python_full_version", "implementation_version", "platform_release")
OLD_NAMES = {
    "os.name": "os_name",
    "sys.platform": "sys_platform",
    "platform.machine": "platform_machine",
    "platform.version": "platform_version",
    "platform.python_implementation": "platform_python_implementation",
    "python_implementation": "platform_python_implementation",
}


class Requirement:
    """name, extras asked for, version specifier ("" = any), marker ("" = always), text as written."""

    def __init__(self, text):
        self.text = text.strip()
        body, _, marker = self.text.partition(";") if " @ " not in text else self.text.partition(" ;")
        head = HEAD.match(body)
        if not head:
            raise ValueError("%r is no requirement" % text)
        self.name = head.group(1)
        self.extras = [extra.strip() for extra in (head.group(2) or "").split(",") if extra.strip()]
        rest = body[head.end() :].strip()
        # A requirement by URL is met by whatever has the name.
        self.specifier = "" if rest.startswith("@") else rest.strip("()").strip()
        self.marker = marker.strip()

    def holds(self, environment, extra=""):
        """Whether the marker holds in an environment (`interpreter.facts()["markers"]`) when `extra` is asked for."""
        if not self.marker:
            return True
        tokens = TOKEN.findall(self.marker)
        value, rest = _or(tokens, dict(environment, extra=extra))
        if rest:
            raise ValueError("%r is no marker" % self.marker)
        return value


def _or(tokens, environment):
    value, tokens = _and(tokens, environment)
    while tokens[:1] == ["or"]:
        other, tokens = _and(tokens[1:], environment)
        value = value or other
    return value, tokens


def _and(tokens, environment):
    value, tokens = _term(tokens, environment)
    while tokens[:1] == ["and"]:
        other, tokens = _term(tokens[1:], environment)
        value = value and other
    return value, tokens


def _term(tokens, environment):
    if tokens[:1] == ["("]:
        value, tokens = _or(tokens[1:], environment)
        return value, tokens[1:]
    if len(tokens) < 3:
        raise ValueError("a marker ends too early")
    left, operator, right = tokens[:3]
    return _compare(left, " ".join(operator.split()), right, environment), tokens[3:]


def _compare(left, operator, right, environment):
    names = [
        name for name in (OLD_NAMES.get(left, left), OLD_NAMES.get(right, right)) if not name.startswith(("'", '"'))
    ]
    first, second = _value(left, environment), _value(right, environment)
    if operator == "in":
        return first in second
    if operator == "not in":
        return first not in second
    if "extra" in names:
        first, second = _plain(first), _plain(second)
    elif (
        any(name in VERSIONS for name in names)
        and pep440.Version.parse(first)
        and pep440.Version.parse(second.replace(".*", ""))
    ):
        return pep440.satisfies(first, operator + second)
    return {
        "==": first == second,
        "!=": first != second,
        "<": first < second,
        "<=": first <= second,
        ">": first > second,
        ">=": first >= second,
        "===": first == second,
        "~=": False,
    }[operator]


def _value(token, environment):
    if token.startswith(("'", '"')):
        return token[1:-1]
    return environment.get(OLD_NAMES.get(token, token), "")


def _plain(extra):
    return re.sub(r"[-_.]+", "-", extra).lower()
