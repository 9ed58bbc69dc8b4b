"""The hosts that FIGURES_HOSTS (JSON: name => data of pyinfra) names."""

import json
import os

hosts = [(name, data) for name, data in json.loads(os.environ["FIGURES_HOSTS"]).items()]
