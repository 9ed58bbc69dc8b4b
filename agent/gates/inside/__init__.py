"""What runs inside the candidate's interpreter. It travels there as source (see `agent/gates/probe.py`), so it imports its own
modules relatively, knows nothing of the agent, and runs on any Python >= 3.8."""
