"""The readable name in a mangled C++ symbol, without its arguments: `_ZN3c104cuda9SetDeviceEa` is `c10::cuda::SetDevice`."""

import re

SPECIAL = {"TV": "vtable of ", "TI": "typeinfo of ", "TS": "typeinfo name of ", "GV": "guard of "}
STANDARD = {"St": "std", "Sa": "std::allocator", "Ss": "std::string"}
NUMBER = re.compile(r"\d+")


def demangle(symbol):
    """The name of a symbol (text); the symbol itself where its form is not one of the simple ones."""
    text, prefix = symbol, ""
    if not text.startswith("_Z"):
        return symbol
    text = text[2:]
    if text[:2] in SPECIAL:
        prefix, text = SPECIAL[text[:2]], text[2:]
    parts = _nested(text[1:]) if text.startswith("N") else _parts(text, 1)
    return prefix + "::".join(parts) if parts else symbol


def _nested(text):
    while text[:1] in ("K", "V", "r", "R", "O"):
        text = text[1:]
    return _parts(text, None)


def _parts(text, most):
    """The source names of a sequence of them; None where something else comes."""
    parts = []
    while text and (most is None or len(parts) < most):
        number = NUMBER.match(text)
        if number:
            end = number.end() + int(number.group())
            parts.append(text[number.end() : end])
            text = text[end:]
        elif text[:2] in STANDARD:
            parts.append(STANDARD[text[:2]])
            text = text[2:]
            most = None if most is None else most + 1
        elif text[:1] in ("C", "D") and text[1:2].isdigit() and parts:
            parts.append(("~" if text[0] == "D" else "") + parts[-1])
            text = text[2:]
        elif text[:1] == "E":
            return parts
        else:
            break
    if most is not None and len(parts) == most:
        return parts
    # What follows is a template's arguments or an operator: the place is known all the same.
    return parts + ["…"] if parts else None
