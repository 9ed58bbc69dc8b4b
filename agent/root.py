"""The root folder itself: made with the first thing below it, gone with the last."""

import os

from agent.files import existing, read_json, remove_file, write_json
from agent.tidy import remove_empty, remove_tree


def prepare_root(layout):
    """Makes the root if need be, and notes which folders did not exist before: they go with it. Fault `newer-format`."""
    if os.path.exists(layout.format):
        read_json(layout.format)
        return
    made, above, stop = [], layout.root, existing(layout.root)
    while above != stop:
        made.append(above)
        above = os.path.dirname(above)
    os.makedirs(layout.root, exist_ok=True)
    write_json(layout.format, {"made": made})


def leave_unused_root(layout):
    """Removes a root in which nothing is but what looking after it takes: nothing was put there, or nothing was there to remove."""
    if os.path.isdir(layout.root) and {layout.at(name) for name in os.listdir(layout.root)} <= {
        layout.lock,
        layout.format,
    }:
        leave_root(layout)


def leave_root(layout):
    """Removes what is ours below the root, once nothing there belongs to anyone, and the folders that we made. Call it under the lock."""
    made = (read_json(layout.format) or {}).get("made", [])
    remove_tree(layout.at("store"))
    remove_tree(layout.at("trees"))
    for folder in ("venvs", "services"):
        remove_empty(layout.at(folder))
    for path in (layout.claims, layout.format, layout.lock):
        remove_file(path)
    # The longest path comes first. A folder with something of others in it stays, and so does one that was there before us.
    for folder in made:
        remove_empty(folder)
