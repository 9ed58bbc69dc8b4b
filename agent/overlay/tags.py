"""Whether a wheel fits an interpreter: its tags `cp312-cp312-manylinux_2_28_x86_64`, compared as pip compares them."""

import re

MANYLINUX = {"1": (2, 5), "2010": (2, 12), "2014": (2, 17)}


def fits(tags, facts):
    """Whether one of a wheel's tags (`py3-none-any`) is good for the interpreter whose `interpreter.facts` are given."""
    return any(_fits(tag, facts) for tag in tags)


def wanted(facts):
    """What the interpreter takes, in words."""
    return "CPython %s on %s, %s %s" % (
        facts["version"],
        facts["markers"]["platform_machine"],
        facts["libc"][0] or "libc",
        facts["libc"][1] or "?",
    )


def read(text):
    """The tags of a WHEEL file, each one for itself."""
    lines = [line.partition(":") for line in text.splitlines()]
    return [tag for name, _, value in lines if name.strip() == "Tag" for tag in expand(value.strip())]


def expand(tag):
    """`py2.py3-none-any` is two tags."""
    pythons, abis, platforms = tag.split("-")
    return ["%s-%s-%s" % (a, b, c) for a in pythons.split(".") for b in abis.split(".") for c in platforms.split(".")]


def _fits(tag, facts):
    python, abi, platform = tag.split("-")
    return _python(python, abi, facts) and _platform(platform, facts)


def _python(python, abi, facts):
    major, minor = (int(part) for part in facts["version"].split(".")[:2])
    match = re.match(r"(py|cp)(\d)(\d*)$", python)
    if not match or int(match.group(2)) != major:
        return False
    named = int(match.group(3)) if match.group(3) else None
    own = "cp%d%d" % (major, minor)
    flags = "t" if any("t-" in suffix for suffix in facts["suffixes"]) else ""
    if match.group(1) == "py":
        return abi == "none" and (named is None or named <= minor)
    if abi == "abi3":
        return not flags and named is not None and named <= minor
    return python == own and abi in ("none", own + flags)


def _platform(platform, facts):
    machine = facts["markers"]["platform_machine"]
    if platform == "any":
        return True
    if platform == "linux_" + machine:
        return True
    libc, version = facts["libc"]
    have = tuple(int(part) for part in version.split(".")[:2]) if re.match(r"\d+\.\d+", version or "") else (0, 0)
    match = re.match(r"manylinux(1|2010|2014)_(.+)$", platform)
    if match:
        return libc == "glibc" and match.group(2) == machine and MANYLINUX[match.group(1)] <= have
    match = re.match(r"(manylinux|musllinux)_(\d+)_(\d+)_(.+)$", platform)
    if not match or match.group(4) != machine:
        return False
    needed = (int(match.group(2)), int(match.group(3)))
    if match.group(1) == "musllinux":
        return libc != "glibc"
    return libc == "glibc" and needed <= have
