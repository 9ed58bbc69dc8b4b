#!/usr/bin/env bash
# The static and live gates against a real torch and a real driver: once passing, then failing for the right reason each.
# For a machine with an NVIDIA GPU, gcc, and a python3 in whose venv torch is installed; it needs no network and changes nothing there.
# usage: test/device/static_gates.sh [python]      exit 0: everything was as expected; 1: it was not; 3: this machine lacks something
set -euo pipefail
cd "$(dirname "$0")/../.."
unset PYTHONDONTWRITEBYTECODE
exec "${1:-python3}" -B -m test.device.static_gates
