"""The names of SGLang's launch flags, read from its source alone: for a candidate whose parser does not come up."""

import ast
import glob
import os


def flags(site):
    """All option strings that `sglang.srt.server_args` of this site-packages declares, in any of its three styles; empty when unreadable."""
    root = os.path.join(site, "sglang", "srt")
    names = set()
    for file in [os.path.join(root, "server_args.py")] + sorted(
        glob.glob(os.path.join(root, "arg_groups", "fields", "*.py"))
    ):
        try:
            with open(file, encoding="utf-8") as stream:
                tree = ast.parse(stream.read())
        except (OSError, SyntaxError):
            continue
        for node in ast.walk(tree):
            names.update(added(node) or declared(node))
    return names


def added(node):
    """`parser.add_argument("--tp-size", "--tp", …)`"""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
        options = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        return with_negation(options, [keyword.value for keyword in node.keywords if keyword.arg == "action"])
    return []


def declared(node):
    """`tp_size: A[int, Arg(help=…, aliases=["--tp"], cli_name=…)] = 1`, or with a bare help text."""
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.annotation, ast.Subscript):
        return []
    if getattr(node.annotation.value, "id", None) not in ("A", "Annotated"):
        return []
    parts = node.annotation.slice
    parts = getattr(parts, "value", parts)  # Python 3.8 wraps it in an Index
    options, action = [], []
    for part in parts.elts[1:]:
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "Arg":
            said = {keyword.arg: keyword.value for keyword in part.keywords}
            if "no_cli" in said:
                return []
            own = [said["cli_name"].value] if isinstance(said.get("cli_name"), ast.Constant) else None
            options = own or [flag(node.target.id)]
            options += [item.value for item in getattr(said.get("aliases"), "elts", [])]
            action = [said["action"]] if "action" in said else []
        elif isinstance(part, (ast.Constant, ast.JoinedStr, ast.BinOp)):
            options = [flag(node.target.id)]
    return with_negation(options, action)


def flag(field):
    return "--" + field.replace("_", "-")


def with_negation(options, actions):
    if any("BooleanOptionalAction" in ast.dump(action) for action in actions):
        return options + ["--no-" + option[2:] for option in options if option.startswith("--")]
    return options
