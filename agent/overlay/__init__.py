"""Overlays: distributions that are staged once as a tree, and laid over a base when a release is composed."""
