import unittest

from agent.layout import Layout
from agent.service.account import Account
from agent.service.environment import environment
from agent.service.logs import last_lines
from agent.service.place import Place
from agent.service.progress import stage_of
from agent.service.redact import redact, secret_values
from agent.service.spec import api_key, config_text, needs_restart

BOB = Account("bob", 1000, 1000, [1000], "/home/bob")
VENV, SITE = "/r/services/s/venv", "/r/services/s/venv/lib/python3.12/site-packages"
PATH = "/r/services/s/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class AnEnvironment(unittest.TestCase):
    def made(self, variables, account=BOB):
        return environment(account, variables, VENV, SITE)

    def test_has_what_the_user_database_says(self):
        self.assertEqual(
            self.made({}),
            {
                "HOME": "/home/bob",
                "USER": "bob",
                "LOGNAME": "bob",
                "LANG": "C.UTF-8",
                "PATH": PATH,
            },
        )

    def test_of_a_number_without_an_entry_has_no_home(self):
        self.assertEqual(self.made({}, Account(None, 4711, 4711, [4711], None)), {"LANG": "C.UTF-8", "PATH": PATH})

    def test_takes_what_is_declared_over_the_defaults(self):
        self.assertEqual(self.made({"HOME": "", "PATH": "/bin"})["HOME"], "")
        self.assertEqual(self.made({"HOME": "", "PATH": "/bin"})["PATH"], "/bin")

    def test_puts_places_in(self):
        self.assertEqual(
            self.made({"L": "{site}/nvidia/lib:{venv}/lib:{site}"})["L"], SITE + "/nvidia/lib:" + VENV + "/lib:" + SITE
        )

    def test_leaves_doubled_and_other_braces(self):
        self.assertEqual(self.made({"A": "{{site}} {{venv}} {other} {}"})["A"], "{site} {venv} {other} {}")
        self.assertEqual(self.made({"A": '{"a":{"site":1}}'})["A"], '{"a":{"site":1}}')

    def test_keeps_every_other_byte(self):
        for value in (
            "k\\1$HOME\"q'#;",
            " lead and trail ",
            "=a=b",
            "two\nlines",
            "\t",
            "é",
            "",
            "x" * 20000,
            "%h",
            "\udcff",
        ):
            self.assertEqual(self.made({"A": value})["A"], value)


class Keys(unittest.TestCase):
    def test_become_a_configuration_of_the_server(self):
        text = config_text({"apiKey": 'k"\\é: #', "adminApiKey": "adm"})
        self.assertEqual(text, 'api-key: "k\\"\\\\é: #"\nadmin-api-key: "adm"\n')

    def test_that_are_none_become_no_file(self):
        self.assertIsNone(config_text({"apiKey": None}))
        self.assertIsNone(config_text(None))
        self.assertIsNone(api_key(None))


class ASpec(unittest.TestCase):
    def test_needs_a_restart_for_what_a_process_is_born_with(self):
        old = {"argv": ["a"], "environ": {}, "cwd": "/", "stopTimeout": 10, "port": 1}
        self.assertEqual(needs_restart(old, dict(old, stopTimeout=20)), [])
        self.assertEqual(needs_restart(old, dict(old, argv=["b"], cwd="/x")), ["argv", "cwd"])

    def test_paths_of_a_service_have_one_place(self):
        self.assertEqual(Place(Layout("/r"), "s").unit, "sglang-s.service")
        self.assertEqual(Place(Layout("/r"), "s").variables("e1"), "/r/services/s/env-e1.json")


class Secrets(unittest.TestCase):
    def test_are_the_keys_and_what_is_called_or_looks_like_one(self):
        values = secret_values(
            {"apiKey": "key-1", "adminApiKey": None},
            {
                "HF_TOKEN": "hf_abcdefgh",
                "MAX_TOKENS": "40960000",
                "PATH": "/usr/bin:/usr/local/cuda-12/bin",
                "WANDB": "0123456789abcdef0123",
                "NCCL_BUFFSIZE": "16777216",
                "NAME": "a-name-of-some-length-only",
            },
        )
        self.assertEqual(values, {"key-1", "hf_abcdefgh", "0123456789abcdef0123"})

    def test_are_taken_out_also_where_they_are_quoted(self):
        self.assertEqual(redact("api_key='a\\'b' \"a'b\"", {"a'b"}), "api_key='***' \"***\"")
        self.assertEqual(redact('{"k": "a\\"b\\\\c"}', {'a"b\\c'}), '{"k": "***"}')


class ALog(unittest.TestCase):
    def test_tells_the_stage_of_loading(self):
        self.assertEqual(stage_of("[x] server_args=ServerArgs(..)\n"), "reads its arguments")
        self.assertEqual(
            stage_of(
                "Load weight begin. avail mem=1\nMulti-thread loading shards:  40% Completed | 2/5 [\rMulti-thread loading shards:  60% Completed | 3/5 ["
            ),
            "loads weights, 60 % (3/5)",
        )
        self.assertEqual(stage_of("INFO:     Uvicorn running on http://127.0.0.1:1\nother"), "listens, and warms up")
        self.assertIsNone(stage_of("hello\n"))

    def test_shows_its_end_with_bars_as_they_stood_last(self):
        self.assertEqual(last_lines("a\n\nb  1%\rb 99%\r\nc\n", 2), "b 99%\nc")


if __name__ == "__main__":
    unittest.main()
