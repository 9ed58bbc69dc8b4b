import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

from agent.bundle import sources
from agent.frames import FrameError, FrameWriter, read_frame

BOOT = (
    "import sys,os,json,zlib;i=os.fdopen(os.dup(0),'rb');b=json.loads(zlib.decompress(i.read(int(sys.argv[2]))).decode());"
    "g={'__name__':'agent.bundle'};exec(b['agent.bundle'],g);g['start'](b,sys.argv[1],i)"
)


class Agent:
    """A real agent, started as its bootstrap starts it."""

    def __init__(self, extra=None, without=()):
        modules = {name: text for name, text in sources().items() if name not in without}
        bundle = zlib.compress(json.dumps(dict(modules, **(extra or {}))).encode())
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-I", "-c", BOOT, "m1", str(len(bundle))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.process.stdin.write(bundle)
        self.writer = FrameWriter(self.process.stdin)
        assert self.process.stdout.readline() == b"\n"
        assert self.process.stdout.readline() == b"@sglang-ready m1\n"

    def send(self, header, body=b""):
        self.writer.write(header, body)

    def receive(self):
        return read_frame(self.process.stdout)

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(20)
        self.stderr = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return code


class FrameTest(unittest.TestCase):
    def test_what_is_written_is_read_again_and_the_end_is_none(self):
        stream = io.BytesIO()
        writer = FrameWriter(stream)
        writer.write({"id": 1, "op": "look"}, b"\0\xff")
        writer.write({"id": 2})
        stream.seek(0)
        self.assertEqual(
            [read_frame(stream) for _ in range(3)], [({"id": 1, "op": "look"}, b"\0\xff"), ({"id": 2}, b""), None]
        )

    def test_a_stream_that_ends_inside_a_frame_is_an_error(self):
        stream = io.BytesIO()
        FrameWriter(stream).write({"id": 1}, b"body")
        for cut in (3, 9, len(stream.getvalue()) - 1):
            with self.assertRaises(FrameError):
                read_frame(io.BytesIO(stream.getvalue()[:cut]))

    def test_a_length_that_no_frame_of_ours_has_is_an_error_and_not_an_allocation(self):
        with self.assertRaises(FrameError):
            read_frame(io.BytesIO(b"\xff" * 8))


class AgentTest(unittest.TestCase):
    def agent(self, without=(), **extra):
        agent = Agent({"agent." + name: text for name, text in extra.items()}, without)
        self.addCleanup(lambda: agent.process.poll() is not None or (agent.process.kill(), agent.end()))
        return agent

    def test_hello_answers_by_id_and_the_agent_ends_with_its_stdin(self):
        agent = self.agent()
        agent.send({"id": 7, "op": "hello", "args": {}})
        header, body = agent.receive()
        self.assertEqual((header["id"], header["result"]["uid"], body), (7, os.geteuid(), b""))
        self.assertEqual((agent.end(), agent.stderr), (0, ""))

    def test_an_unknown_operation_and_an_unexpected_exception_are_faults(self):
        agent = self.agent(look="def hello(request):\n    print('noise')\n    return 1 // 0\n")
        agent.send({"id": 1, "op": "nonsense", "args": {}})
        self.assertEqual(agent.receive()[0]["fault"]["code"], "unknown-op")
        agent.send({"id": 2, "op": "hello", "args": {}})
        fault = agent.receive()[0]["fault"]
        self.assertEqual(
            (fault["code"], fault["message"]),
            ("bug", "hello failed unexpectedly: ZeroDivisionError: integer division or modulo by zero"),
        )
        self.assertIn("return 1 // 0", fault["detail"])
        self.assertEqual((agent.end(), agent.stderr), (0, "noise\n"))

    def test_what_was_not_sent_is_asked_for_when_it_is_imported(self):
        agent = self.agent(without=("agent.execute",))
        agent.send({"id": 1, "op": "exec", "args": {"argv": ["echo", "a"]}})
        self.assertEqual(agent.receive(), ({"need": "sources"}, b""))
        rest = {"agent.execute": sources()["agent.execute"]}
        agent.send({"sources": True}, zlib.compress(json.dumps(rest).encode()))
        self.assertEqual(agent.receive()[0]["result"]["stdout"], "a\n")
        agent.end()

    def test_requests_run_side_by_side(self):
        agent = self.agent()
        agent.send({"id": 1, "op": "exec", "args": {"argv": ["sleep", "1"]}})
        agent.send({"id": 2, "op": "exec", "args": {"argv": ["true"]}})
        self.assertEqual([agent.receive()[0]["id"] for _ in range(2)], [2, 1])
        agent.end()

    def test_a_cancelled_command_is_ended_with_its_children(self):
        agent = self.agent()
        agent.send({"id": 1, "op": "exec", "args": {"argv": ["sh", "-c", "echo $$; sleep 300 & wait"], "timeout": 300}})
        time.sleep(0.5)
        agent.send({"cancel": 1})
        self.assertEqual(agent.receive()[0]["fault"]["code"], "cancelled")
        agent.end()

    def test_a_command_past_its_timeout_is_ended_and_shows_what_it_printed(self):
        agent = self.agent()
        agent.send({"id": 1, "op": "exec", "args": {"argv": ["sh", "-c", "echo here; sleep 300"], "timeout": 0.3}})
        fault = agent.receive()[0]["fault"]
        self.assertEqual(
            (fault["code"], fault["message"], fault["detail"]), ("timeout", "sh did not end within 0.3 s", "here\n")
        )
        agent.end()

    def test_a_command_gets_its_stdin_environment_and_folder(self):
        agent = self.agent()
        with tempfile.TemporaryDirectory() as folder:
            args = {
                "argv": ["sh", "-c", 'cat; echo "$A"; pwd >&2; exit 3'],
                "stdin": "in\n",
                "env": {"A": "a b"},
                "cwd": folder,
            }
            agent.send({"id": 1, "op": "exec", "args": args})
            self.assertEqual(
                agent.receive()[0]["result"],
                {"exit": 3, "stdout": "in\na b\n", "stderr": os.path.realpath(folder) + "\n"},
            )
        agent.end()

    def test_when_the_caller_is_gone_its_commands_are_ended(self):
        agent = self.agent()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pid")
            agent.send(
                {
                    "id": 1,
                    "op": "exec",
                    "args": {"argv": ["sh", "-c", "echo $$ > %s; exec sleep 300" % path], "timeout": 300},
                }
            )
            while not (os.path.exists(path) and os.path.getsize(path)):
                time.sleep(0.05)
            with open(path) as stream:
                pid = int(stream.read())
            self.assertEqual(agent.end(), 0)
            with self.assertRaises(ProcessLookupError):
                os.kill(pid, 0)


if __name__ == "__main__":
    unittest.main()
