"""Activations again where they count: by units, on hosts with systemd."""

import unittest

from test.hosts.agent_hosts import OnHosts


class OnHostsWithSystemd(OnHosts):
    COUNT = 3

    def test_a_service_is_activated_followed_cancelled_and_removed(self):
        self.passes("test_service_activate", "test_service_failed", "test_service_stop")


if __name__ == "__main__":
    unittest.main()
