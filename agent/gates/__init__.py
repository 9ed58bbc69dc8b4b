"""The gates: what a candidate must pass before anything that runs is touched."""
