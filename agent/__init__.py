"""The agent: Python that runs on a host, for one command, with nothing but its standard library."""
