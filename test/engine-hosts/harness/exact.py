"""Prints everything below a folder as JSON: path => kind and mode, owner, links, size, mtime, ctime, target. What is written shows in its times."""

import json
import os
import stat
import sys

top = sys.argv[1]


def describe(path):
    seen = os.lstat(path)
    facts = [stat.filemode(seen.st_mode), seen.st_uid, seen.st_gid, seen.st_nlink, seen.st_size]
    facts += [seen.st_mtime_ns, seen.st_ctime_ns]
    return " ".join(map(str, facts + ([os.readlink(path)] if stat.S_ISLNK(seen.st_mode) else [])))


found = {top: describe(top)}
for folder, folders, names in os.walk(top):
    for name in folders + names:
        path = os.path.join(folder, name)
        found[path] = describe(path)
print(json.dumps(found))
