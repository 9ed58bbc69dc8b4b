"""Stand-in for the kernel package: a version, and one kernel."""

__version__ = "0.4.0+standin"


def silu_and_mul(x):
    return x
