"""A service: the one process of a host that serves, how it is kept running, and how it is switched."""
