"""Activations cut by a loss of power, on hosts with systemd: what stands after the boot."""

import json
import unittest

from test.hosts.agent_hosts import OnHosts

#: Stage, event, and the release that is served after it.
POINTS = [
    ("save", "end", "r1"),
    ("drain", "begin", "r1"),
    ("stop", "begin", "r1"),
    ("stop", "end", "r1"),
    ("switch", "begin", "r1"),
    ("switch", "end", "r1"),
    ("start", "end", "r1"),
    ("wait", "end", "r1"),
    ("prove", "end", "r1"),
    ("commit", "end", "r2"),
]


class CutByALossOfPower(OnHosts):
    COUNT = 3

    def test_an_activation_ends_old_or_new(self):
        self.side_by_side(self.cut, POINTS)

    def cut(self, host, point):
        stage, event, release = point
        host.run("python3 -m test.hosts.rebooted remove")
        host.must("python3 -m test.hosts.rebooted begin %s %s && sync" % (stage, event))
        host.lose_power()
        found = json.loads(host.must("python3 -m test.hosts.rebooted end").strip().split("\n")[-1])
        unit = found.pop("unit")
        self.assertEqual(
            (unit["asWritten"], unit["needsReload"], unit["enabled"], unit["activeState"]),
            (True, False, True, "active"),
        )
        self.assertEqual(
            found.pop("activation"),
            "committed" if release == "r2" else "failed" if stage in ("save", "drain") else "rolled-back",
        )
        self.assertEqual(
            found,
            {
                "running": "running",
                "release": release,
                "current": release,
                "text": "Paris.",
                "units": ["sglang-s.service"],
                "link": "../../venvs/v/releases/" + release,
            },
        )


if __name__ == "__main__":
    unittest.main()
