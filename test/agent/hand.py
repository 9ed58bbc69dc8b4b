"""What a hand does to a file of a release."""

import os
import shutil
import stat


class Hand:
    """Edits files as people and their tools do. Each edit returns how a look is to name it: {path below the release: kind}."""

    def __init__(self, choice, top):
        self.choice = choice
        self.top = top

    def full(self, path):
        return os.path.join(self.top, path)

    def in_place(self, path):
        with open(self.full(path), "ab") as file:
            file.write(b"# by hand\n")
        return {path: "edited"}

    def by_rename(self, path):
        with open(self.full(path) + ".swp", "wb") as file:
            file.write(b"# by hand\n")
        shutil.copymode(self.full(path), self.full(path) + ".swp")
        os.replace(self.full(path) + ".swp", self.full(path))
        return {path: "edited"}

    def hidden(self, path):
        """In place, with its old size and time."""
        facts = os.stat(self.full(path))
        with open(self.full(path), "r+b") as file:
            first = file.read(1)
            file.seek(0)
            file.write(b"#" if first != b"#" else b" ")
        os.utime(self.full(path), ns=(facts.st_atime_ns, facts.st_mtime_ns))
        return {path: "edited"}

    def hidden_by_rename(self, path):
        facts = os.stat(self.full(path))
        shutil.copy2(self.full(path), self.full(path) + ".swp")
        with open(self.full(path) + ".swp", "r+b") as file:
            file.write(b"!")
        os.utime(self.full(path) + ".swp", ns=(facts.st_atime_ns, facts.st_mtime_ns))
        os.replace(self.full(path) + ".swp", self.full(path))
        return {path: "edited"}

    def removed(self, path):
        os.unlink(self.full(path))
        return {path: "missing"}

    def mode(self, path):
        os.chmod(self.full(path), stat.S_IMODE(os.stat(self.full(path)).st_mode) ^ 0o100)
        return {path: "edited"}

    def linked(self, path):
        os.replace(self.full(path), self.full(path) + ".orig")
        os.symlink(os.path.basename(path) + ".orig", self.full(path))
        return {path: "edited", path + ".orig": "extra"}

    def a_folder_instead(self, path):
        os.unlink(self.full(path))
        os.mkdir(self.full(path))
        with open(os.path.join(self.full(path), "x.py"), "w") as file:
            file.write("x = 1\n")
        return {path: "missing", path + "/x.py": "extra"}

    def added_beside(self, path):
        name = os.path.join(os.path.dirname(path), "added_%06d.py" % self.choice.randrange(10**6))
        with open(self.full(name), "w") as file:
            file.write("x = 1\n")
        return {name: "extra"}


EDITS = [
    *("in_place", "by_rename", "hidden", "hidden_by_rename", "removed"),
    *("mode", "linked", "a_folder_instead", "added_beside"),
]
