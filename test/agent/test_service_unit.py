import unittest

from agent.layout import Layout
from agent.service.place import Place
from agent.service.systemctl import parse_show
from agent.service.systemd import within
from agent.service.unit import recover_text, unit_text

SPEC = {
    "cwd": "/srv/50% $x/work",
    "account": "sgl",
    "user": "sgl",
    "group": None,
    "limits": {"nofile": "65536", "memlock": "infinity"},
    "wishes": {"stack": "67108864"},
    "log": None,
    "stopTimeout": 60,
}

UNIT = """\
# Made by pulumi-sglang for the service in /opt/a b/services/s
[Unit]
Description=SGLang s
Wants=network-online.target
After=network-online.target
RequiresMountsFor="/opt/a b/services/s"
# A server whose disk or device comes late must not be given up at boot.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart="/opt/a b/services/s/venv/bin/python" "-I" "-S" "-B" "/opt/a b/services/s/launcher.py" "/opt/a b/services/s/spec.json"
WorkingDirectory=/srv/50%% $x/work
User=sgl
LimitMEMLOCK=infinity
LimitNOFILE=65536
LimitSTACK=67108864
Restart=on-failure
RestartSec=5
# SIGTERM to the server, which ends its schedulers itself; whoever is left then gets SIGKILL.
KillMode=mixed
TimeoutStopSec=60

[Install]
WantedBy=multi-user.target
"""


class AUnit(unittest.TestCase):
    place = Place(Layout("/opt/a b"), "s")

    def test_runs_the_launcher_and_shows_neither_arguments_nor_environment(self):
        self.assertEqual(unit_text(self.place, SPEC), UNIT)

    def test_of_a_number_without_an_entry_leaves_the_user_to_the_launcher(self):
        text = unit_text(self.place, dict(SPEC, account=None, user="4711", group="4711"))
        self.assertNotIn("User=", text)
        self.assertNotIn("Group=", text)

    def test_of_a_user_names_no_user_and_is_wanted_by_the_default_target(self):
        text = unit_text(self.place, SPEC, system=False)
        self.assertNotIn("User=", text)
        self.assertIn("WantedBy=default.target\n", text)

    def test_with_a_log_appends_to_it(self):
        text = unit_text(self.place, dict(SPEC, log="/var/log/50%.log"))
        self.assertIn("StandardOutput=append:/var/log/50%%.log\nStandardError=append:/var/log/50%%.log\n", text)

    def test_backs_off_further_each_time_where_systemd_can(self):
        self.assertNotIn("RestartSteps", unit_text(self.place, SPEC, version=252))
        self.assertIn("RestartSec=5\nRestartSteps=5\nRestartMaxDelaySec=60\n", unit_text(self.place, SPEC, version=254))

    def test_of_a_path_with_signs_of_systemd_means_them_as_they_are(self):
        text = unit_text(Place(Layout('/o/$a"%h\\'), "s"), SPEC)
        self.assertIn('"/o/$$a\\"%%h\\\\/services/s/launcher.py"', text)

    def test_for_the_boot_runs_before_the_service(self):
        text = recover_text(self.place, ["/usr/bin/python3", "-I", "/opt/a b/agent.pyz", "recover"])
        self.assertIn("Before=sglang-s.service\n", text)
        self.assertIn('ExecStart="/usr/bin/python3" "-I" "/opt/a b/agent.pyz" "recover"\n', text)


class Systemctl(unittest.TestCase):
    def test_show_of_several_units_is_a_block_each(self):
        text = "Id=a.service\nMainPID=7\nDropInPaths=/x=y /z\n\nId=b.service\nMainPID=0\n"
        self.assertEqual(
            parse_show(text),
            [
                {"Id": "a.service", "MainPID": "7", "DropInPaths": "/x=y /z"},
                {"Id": "b.service", "MainPID": "0"},
            ],
        )

    def test_a_process_is_in_a_control_group_from_any_namespace(self):
        self.assertTrue(within("/system.slice/s.service", "/system.slice/s.service"))
        self.assertTrue(within("/machine/h1/system.slice/s.service", "/system.slice/s.service"))
        self.assertTrue(within("/system.slice/s.service/worker", "/system.slice/s.service"))
        self.assertFalse(within("/system.slice/s.service2", "/system.slice/s.service"))


if __name__ == "__main__":
    unittest.main()
