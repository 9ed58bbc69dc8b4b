"""Gate 6: Python expressions that must be true in the candidate, after its imports."""

import ast
import builtins
import sys

from . import trace


def names():
    """What an expression sees: the built-in names and every loaded top-level module by its name."""
    seen = {name: module for name, module in list(sys.modules.items()) if "." not in name and name.isidentifier()}
    return dict(seen, __builtins__=builtins)


def value(node, scope):
    return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "<assert>", "eval"), scope)


def sides(expression, scope):
    """`'12.8' == '13.0'` for a comparison of two sides that was false; else None."""
    node = ast.parse(expression.strip(), mode="eval").body
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    left, right = value(node.left, scope), value(node.comparators[0], scope)
    symbol = {
        "Eq": "==",
        "NotEq": "!=",
        "Lt": "<",
        "LtE": "<=",
        "Gt": ">",
        "GtE": ">=",
        "In": "in",
        "NotIn": "not in",
        "Is": "is",
        "IsNot": "is not",
    }
    return "%s %s %s" % (repr(left), symbol[type(node.ops[0]).__name__], repr(right))


def check(expression):
    """The problem with one expression, or None."""
    scope = names()
    try:
        result = eval(compile(expression.strip(), "<assert>", "eval"), scope)
        if result:
            return None
        return {"text": "%s is %s" % (expression, "false: " + (sides(expression, scope) or repr(result)))}
    except BaseException as error:
        return {"text": "%s raises %s" % (expression, trace.line_of(error)), "detail": trace.last_lines(error)}


def run(expressions):
    return [problem for problem in (check(expression) for expression in expressions) if problem]
