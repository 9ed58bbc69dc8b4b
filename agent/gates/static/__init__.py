"""Gate 3: what the files of a candidate say by themselves, read without running any of it."""
