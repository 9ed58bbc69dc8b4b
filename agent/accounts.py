"""Accounts in URLs (`https://user:password@host/…`): who may not read them anywhere but in files of their owner."""

import re

_ACCOUNT = re.compile(r"(://)[^/\s]*@")


def has_account(value):
    """Whether a value, as text, holds a URL with an account. An `@` elsewhere is none: `/opt/python@3.12` is a path."""
    return bool(_ACCOUNT.search(str(value)))


def redacted(text):
    """A text without the user and password of its URLs."""
    return _ACCOUNT.sub(r"\1…@", text)
