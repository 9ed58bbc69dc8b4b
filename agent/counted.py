"""A number with its noun, as a person would say it."""


def counted(number, noun, plural=None):
    """`1 file`, `2 files`; `plural` where an s does not make it."""
    return "%d %s" % (number, noun if number == 1 else plural or noun + "s")
