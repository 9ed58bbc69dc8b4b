"""What the server answers. Tests patch this module: each constant shows in a response."""

# The text of each completion.
TEXT = "Paris."

# Laid over the answer of /model_info.
MODEL_INFO = {}
