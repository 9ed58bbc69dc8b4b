"""The complete environment of a service: what is declared, over defaults that a bare process would lack."""

import glob
import os
import re

from agent.fault import Fault

_PLACES = re.compile(r"\{\{(site|venv)\}\}|\{(site|venv)\}")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(account, variables, venv, site):
    """Name => value, complete: nothing else reaches the process. Text, with surrogates for bytes that are not UTF-8.

    `{site}` and `{venv}` in declared values become these paths; `{{site}}` is the text `{site}`. HOME, USER and LOGNAME
    come from the account's entry in the user database and are left out when it has none.
    """
    values = defaults(account, venv)
    for name, value in variables.items():
        values[name] = expand(value, {"venv": venv, "site": site})
    return values


def defaults(account, venv):
    """What a process gets that declares nothing. PATH begins with the venv: JIT compilers look for `ninja` there."""
    values = {"PATH": os.path.join(venv, "bin") + ":" + _PATH, "LANG": "C.UTF-8"}
    if account.name is not None:
        values.update(HOME=account.home, USER=account.name, LOGNAME=account.name)
    return values


def expand(value, places):
    """Puts places into one value. Other braces stay as they are: values may be JSON."""
    return _PLACES.sub(lambda match: "{%s}" % match.group(1) if match.group(1) else places[match.group(2)], value)


def site_packages(venv):
    """site-packages of a venv, below `venv` as it is given (a link stays a link). Fault: no-site."""
    found = sorted(glob.glob(os.path.join(glob.escape(venv), "lib", "python3*", "site-packages")))
    if len(found) != 1:
        raise Fault(
            "no-site",
            "%s has no single lib/python3*/site-packages" % venv,
            where=venv,
            found=", ".join(found) or "none",
            expected="one",
            remedy="build the release again",
        )
    return found[0]
