"""Who uses a release: processes that run from it, services that lead to it, activations that may go back to it."""

import os

from agent.files import names_in, read_json

# A service's files that can name a release: its wish, its process, its journals.
LARGEST = 4 << 20


def processes(paths):
    """{path: [pid]} of those folders that a process has as its executable, its working directory, or in its memory."""
    wanted = {os.path.realpath(path) + os.sep: path for path in paths}
    found = {path: [] for path in paths}
    for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
        places = [place + os.sep for place in _places(pid)]
        maps = None
        for start, path in wanted.items():
            if any(place.startswith(start) for place in places):
                found[path].append(int(pid))
                continue
            if maps is None:
                maps = _maps(pid)
            if start in maps:
                found[path].append(int(pid))
    return {path: pids for path, pids in found.items() if pids}


def named(layout, releases):
    """Those release ids that a service's link, wish, process specification or activation names."""
    texts = []
    for service in names_in(layout.at("services")):
        for folder, folders, files in os.walk(layout.service(service)):
            for name in folders + files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    texts.append(os.readlink(path) + "/")
                elif os.path.isfile(path) and not name.startswith("env-") and not name.endswith(".log"):
                    texts.append(_text(path))
    return {release for release in releases if any(release in text for text in texts)}


def committed(layout, venv):
    """{service: release} of the services whose committed wish names the venv."""
    found = {}
    for service in names_in(layout.at("services")):
        wish = read_json(layout.service(service, "current.json"))
        if wish and wish.get("venv") == venv:
            found[service] = wish.get("release")
    return found


def _places(pid):
    for name in ("exe", "cwd"):
        try:
            yield os.readlink("/proc/%s/%s" % (pid, name))
        except OSError:
            continue
    # The interpreter of a venv is a link out of it: what it was started as is in its arguments.
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as file:
            first = file.read(4096).split(b"\0")[0]
    except OSError:
        return
    if first.startswith(b"/"):
        yield os.path.join(os.path.realpath(os.path.dirname(os.fsdecode(first))), os.path.basename(os.fsdecode(first)))


def _maps(pid):
    try:
        with open("/proc/%s/maps" % pid, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def _text(path):
    try:
        if os.path.getsize(path) > LARGEST:
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
