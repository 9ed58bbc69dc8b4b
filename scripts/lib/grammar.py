"""Says which files below a folder do not parse as Python 3.8, the oldest that a host may have."""

import ast
import pathlib
import sys

OLDEST = (3, 8)


def complaint(path):
    """`path:line: why` when the file needs a newer Python, else None."""
    try:
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=OLDEST)
    except SyntaxError as error:
        return "%s:%s: %s" % (path, error.lineno, error.msg)
    return None


def main(folders):
    files = sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*.py"))
    complaints = [said for said in map(complaint, files) if said]
    for said in complaints:
        print(said)
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
