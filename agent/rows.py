"""Texts of ours with a row a line, below a first line that says what they are and in which form: `sglang manifest 1`."""

from agent.fault import Fault


def rows(path, first, remedy):
    """The rows of such a file; what its first line says after `first` is the reader's. Fault `newer-format` for another form."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        head, *lines = file.read().split("\n")
    if head != first and not head.startswith(first + " "):
        raise Fault(
            "newer-format",
            "%s is not a %s that this version knows" % (path, first.split(" ")[1]),
            where=path,
            found=head[:80],
            expected=first,
            remedy=remedy,
        )
    return [line for line in lines if line]
