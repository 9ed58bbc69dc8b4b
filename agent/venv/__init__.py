"""A venv and its releases: looked at, copied, composed, checked, collected. Nothing here edits what an owner of a host made."""
