import os
import signal
import sys
import tempfile
import textwrap
import time
import unittest

from agent.fault import Fault
from agent.gates import sandbox

ENV = {"PATH": "/usr/bin:/bin"}


def python(text, **more):
    """One run of a few lines of Python, whose `say(bytes)` writes the answer."""
    head = "import os, sys\nsay = lambda data: os.write(int(sys.argv[2]), data)\n"
    return sandbox.run(
        lambda job, answer: [sys.executable, "-c", head + textwrap.dedent(text), str(job), str(answer)],
        more.pop("env", ENV),
        more.pop("cwd", "/"),
        **more,
    )


class Sandbox(unittest.TestCase):
    def test_answers_come_apart_from_what_is_printed(self):
        outcome = python(
            "print('noise'); print('more', file=sys.stderr); sys.stdout.flush(); say(os.read(int(sys.argv[1]), 99)[::-1]); sys.exit(5)",
            job=b"abc",
        )
        self.assertEqual(
            (outcome.exit, outcome.signal, outcome.ended, outcome.answer, outcome.left), (5, None, "exited", b"cba", [])
        )
        self.assertEqual(sorted(outcome.output.split()), ["more", "noise"])

    def test_the_environment_is_exactly_the_given_one_byte_for_byte(self):
        env = {"A": "a b\n'\"$x\\", "B": "ü\udcff", "EMPTY": ""}
        outcome = sandbox.run(lambda job, answer: ["/bin/sh", "-c", "cat /proc/$$/environ >&%d" % answer], env, "/")
        self.assertEqual(outcome.answer, b"A=a b\n'\"$x\\\0B=\xc3\xbc\xff\0EMPTY=\0")

    def test_limits_directory_session_and_stdin_are_those_of_a_unit(self):
        outcome = python(
            """
            import resource
            say(repr((resource.getrlimit(resource.RLIMIT_NOFILE), os.getcwd(), os.getsid(0) == os.getpid(), sys.stdin.read())).encode())
        """,
            limits={"nofile": "321"},
            cwd="/usr",
        )
        self.assertEqual(outcome.answer, b"((321, 321), '/usr', True, '')")

    def test_it_goes_first_when_memory_runs_out(self):
        outcome = sandbox.run(
            lambda job, answer: ["/bin/sh", "-c", "cat /proc/self/oom_score_adj >&%d" % answer], ENV, "/"
        )
        self.assertEqual(outcome.answer, b"1000\n")

    @unittest.skipUnless(os.getuid() == 0, "only root can be another user")
    def test_user_and_groups_are_those_of_the_unit(self):
        outcome = sandbox.run(
            lambda job, answer: ["/bin/sh", "-c", "(id -u; id -g; id -G) >&%d" % answer],
            ENV,
            "/",
            user="nobody",
            group="daemon",
        )
        self.assertEqual(outcome.answer.split()[0], b"65534")
        self.assertEqual(outcome.answer.split()[1], b"1")

    def test_a_signal_is_told(self):
        self.assertEqual(python("os.kill(os.getpid(), 11)").signal, signal.SIGSEGV)

    def test_descendants_that_left_the_session_are_gone_after_the_end(self):
        outcome = python("""
            import subprocess
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    child = subprocess.Popen(["sleep", "300"])
                    say(str(child.pid).encode())
                    child.wait()
                os._exit(0)
            os.wait()
            import time; time.sleep(0.3)
        """)
        self.assertFalse(os.path.exists("/proc/%s" % outcome.answer.decode()))

    def test_a_timeout_ends_it_with_its_output(self):
        started = time.monotonic()
        outcome = python("print('here', flush=True); import time; time.sleep(300)", timeout=0.5)
        self.assertEqual((outcome.ended, outcome.exit, outcome.output), ("timeout", None, "here\n"))
        self.assertLess(time.monotonic() - started, 5)

    def test_its_processes_do_not_outlive_an_agent_that_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            note = os.path.join(folder, "pid")
            child = os.fork()
            if child == 0:
                try:
                    python("open(%r, 'w').write(str(os.getpid())); import time; time.sleep(300)" % note)
                finally:
                    os._exit(0)
            pid = waited(lambda: content(note))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self.assertTrue(waited(lambda: not os.path.exists("/proc/" + pid)))

    def test_much_output_is_kept_only_as_its_tail(self):
        outcome = python("print('x' * 5000000 + 'end')")
        self.assertEqual((len(outcome.output), outcome.output[-4:]), (sandbox.TAIL, "end\n"))

    def test_a_program_that_is_not_there_is_a_fault(self):
        with self.assertRaises(Fault) as caught:
            sandbox.run(["/nowhere/python"], ENV, "/")
        self.assertEqual(
            caught.exception.message,
            "/nowhere/python cannot be run in / as the service would: exec /nowhere/python: No such file or directory",
        )

    def test_nothing_of_it_stays_open(self):
        before = len(os.listdir("/proc/self/fd"))
        python("pass")
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


def content(path):
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return None


def waited(ready):
    """The first true answer within ten seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = ready()
        if found:
            return found
        time.sleep(0.02)
    return None
