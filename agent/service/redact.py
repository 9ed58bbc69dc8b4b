"""Takes secrets out of text that is shown."""
import re

#: Values of variables with such names are hidden too: nobody has to remember to mark HF_TOKEN.
_SECRET_NAME = re.compile(r"(TOKEN(?!S|IZ)|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_KEY|PRIVATE_KEY)", re.IGNORECASE)


def secret_values(secrets, variables):
    """What must not be shown: the keys, the variables named in `secrets["variables"]`, and those whose name says so."""
    secrets = secrets or {}
    named = set(secrets.get("variables") or ())
    values = {secrets.get("apiKey"), secrets.get("adminApiKey")}
    values |= {value for name, value in variables.items() if name in named}
    values |= {value for name, value in variables.items() if len(value) >= 8 and _SECRET_NAME.search(name)}
    return {value for value in values if value and len(value) >= 4}


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
