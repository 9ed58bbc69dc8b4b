"""What pyinfra looks at, to do the same job: versions in the venv, five files, the variables, the unit and the service. For `pyinfra --dry`."""

from pyinfra.context import host
from pyinfra.operations import files, pip, systemd

service = host.data.service
site = service + "/venv/lib/python3.11/site-packages/"

pip.packages(packages=host.data.packages, virtualenv=service + "/venv")
for path, copy in host.data.files.items():
    files.put(src=copy, dest=path)
systemd.service(service="sglang-chat.service", running=True, enabled=True)
