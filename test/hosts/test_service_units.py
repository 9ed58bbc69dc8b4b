"""What a unit is, on hosts with systemd."""

import unittest

from test.hosts.agent_hosts import OnHosts


class UnitsOnHosts(OnHosts):
    def test_units_users_logs_and_limits_are_as_declared(self):
        self.passes("test_service_systemd")


if __name__ == "__main__":
    unittest.main()
