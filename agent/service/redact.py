"""Takes secrets out of text that is shown."""

import re

#: Values of variables with such names are hidden too: nobody has to remember to mark HF_TOKEN.
_SECRET_NAME = re.compile(
    r"(TOKEN(?!S|IZ)|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_KEY|PRIVATE_KEY)", re.IGNORECASE
)


#: A token shows itself by its looks, whatever its variable is called.
_LOOKS_SECRET = re.compile(r"(?=[^/]*[A-Za-z])(?=[^/]*[0-9])[A-Za-z0-9_.+=-]{20,}\Z")


def secret_values(secrets, variables):
    """What must not be shown: the keys, and values of variables that are called or look like secrets."""
    secrets = secrets or {}
    values = {value for value in (secrets.get("apiKey"), secrets.get("adminApiKey")) if value and len(value) >= 4}
    for name, value in variables.items():
        if len(value) >= 8 and (_SECRET_NAME.search(name) or _LOOKS_SECRET.match(value)):
            values.add(value)
    return values


def redact(text, values):
    """The text with each of the values, and its form inside quotes of Python or JSON, as `***`."""
    forms = set()
    for value in values:
        escaped = value.replace("\\", "\\\\")
        forms |= {value, repr(value)[1:-1], escaped.replace('"', '\\"'), escaped.replace("'", "\\'")}
        forms |= {line for line in value.split("\n") if len(line) >= 8}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, "***")
    return text


def shown(words):
    """The words of a command line, with the values of what is called like a secret (`--api-key`, `TOKEN=…`) as `***`."""
    found, hide = [], False
    for word in words:
        name, equals, _value = word.partition("=")
        secret = _SECRET_NAME.search(name.replace("-", "_")) is not None
        if hide and not word.startswith("--"):
            found.append("***")
            hide = False
        else:
            found.append(name + "=***" if secret and equals else word)
            hide = secret and not equals and word.startswith("-")
    return found
