"""Services of a user without root, whose units are that user's own."""

import unittest

from test.hosts.agent_hosts import OnHosts

USER = "user-plain"
TREE = "cp -r /root/tree /home/tree && chmod -R a+rX /home/tree"
# The manager comes a moment after it was asked for.
MANAGER = (
    "loginctl enable-linger %s; unit=user@$(id -u %s); "
    "for _ in $(seq 300); do systemctl is-active --quiet $unit && break; systemctl is-failed --quiet $unit && systemctl restart $unit; sleep 0.1; done; systemctl is-active $unit"
) % (USER, USER)
TESTS = "runuser -l %s -c 'cd /home/tree && SGLANG_TEST_SUPERVISOR=systemd python3 -m unittest %%s'" % USER


class WithoutRoot(OnHosts):
    def test_the_units_are_the_users_own(self):
        for host in self.hosts:
            host.must(TREE)
            exit, out = host.run(MANAGER)
            if exit != 0:
                self.skipTest("no manager for users on this host: " + out.strip().split("\n")[-1])
        self.passes(
            "test_service_activate.AnActivation",
            "test_service_stop.ARemoval",
            "test_service_cut.TheWayForward",
            "test_service_failed.AFailedActivation",
            on=TESTS,
        )


if __name__ == "__main__":
    unittest.main()
