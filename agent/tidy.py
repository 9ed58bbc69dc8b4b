"""Removing what is ours, and only that."""

import os


def remove_tree(path):
    """Removes a folder with all that is in it, or a file; links are not followed. Not there is fine."""
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
        return
    if not os.path.isdir(path):
        return
    if os.geteuid() != 0:
        _open_folders(path)
    # Here, and not above: a look imports this module, and never needs that one.
    import shutil

    shutil.rmtree(path)


def remove_empty(path):
    """Removes a folder if nothing is in it; True when it is gone afterwards."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _open_folders(path):
    """A wheel may hold folders that their owner cannot write: nobody but root can remove what is in them."""
    os.chmod(path, 0o700)
    for folder, folders, _ in os.walk(path):
        for name in folders:
            below = os.path.join(folder, name)
            if not os.path.islink(below):
                os.chmod(below, 0o700)
