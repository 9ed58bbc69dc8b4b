"""Small helpers. Needs pybase64, as SGLang's own does: without it nothing of the server imports."""

import pybase64


def encode(data):
    return pybase64.b64encode(data).decode()
