"""Activations cut by SIGKILL in each stage, forward and back, on hosts with systemd."""

import unittest

from test.hosts.agent_hosts import OnHosts


class CutBySigkill(OnHosts):
    COUNT = 3

    def test_an_activation_ends_old_or_new(self):
        self.passes("test_service_cut")


if __name__ == "__main__":
    unittest.main()
