"""Donors: venvs that distributions are taken from. They are read, and never written to: not even a cache is kept there."""
