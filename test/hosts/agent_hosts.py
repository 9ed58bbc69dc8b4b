"""Test hosts that carry the agent and its tests, for work that several do side by side."""

import concurrent.futures
import os
import queue
import subprocess
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTS = [sys.executable, os.path.join(TOP, "test", "hosts", "hosts")]
CARRIED = ["agent", "test/__init__.py", "test/agent", "test/standin", "test/hosts/rebooted.py"]


def hosts(*words, **more):
    return subprocess.run(HOSTS + list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def missing():
    """Why there can be no hosts here, or an empty text."""
    done = hosts("check")
    return done.stdout.decode().strip() if done.returncode else ""


class AgentHost:
    """One of them; its tree is /root/tree."""

    def __init__(self, name):
        self.name = name

    def carry(self, tree):
        into = ["bash", "-c", "mkdir -p /root/tree && tar -C /root/tree -xf -"]
        hosts("exec", self.name, *into, input=tree, check=True)

    def run(self, script):
        """(exit, output) of a bash script in the tree on the host."""
        done = hosts("exec", self.name, "bash", "-c", "cd /root/tree && " + script)
        return done.returncode, done.stdout.decode()

    def must(self, script):
        """The output of a script that has to end with 0."""
        exit, out = self.run(script)
        if exit != 0:
            raise AssertionError("%s ended with %d on %s:\n%s" % (script, exit, self.name, out))
        return out

    def lose_power(self):
        """Pulls the plug and boots again; returns when the host can be logged in to."""
        done = hosts("reboot", self.name, "--hard")
        if done.returncode != 0:
            raise AssertionError(done.stdout.decode())


@unittest.skipIf(missing(), missing())
class OnHosts(unittest.TestCase):
    """A test case with hosts of its own."""

    #: How many there are: so much is done at once.
    COUNT = 2

    @classmethod
    def setUpClass(cls):
        # Names have at most 10 characters.
        names = ["s%x-%d" % (os.getpid(), number) for number in range(cls.COUNT)]
        up = hosts("up", *names, "--while", str(os.getpid()))
        if up.returncode != 0:
            raise AssertionError(up.stdout.decode())
        cls.addClassCleanup(hosts, "down", *names)
        packed = ["tar", "-cf", "-", "--exclude=__pycache__"] + CARRIED
        tree = subprocess.run(packed, cwd=TOP, stdout=subprocess.PIPE, check=True).stdout
        cls.hosts = [AgentHost(name) for name in names]
        for host in cls.hosts:
            host.carry(tree)

    def side_by_side(self, work, items):
        """Does work(host, item) for each item, each time on a host that nothing else is done on."""
        free = queue.Queue()
        for host in self.hosts:
            free.put(host)

        def on_a_free_host(item):
            host = free.get()
            try:
                return work(host, item)
            finally:
                free.put(host)

        with concurrent.futures.ThreadPoolExecutor(len(self.hosts)) as pool:
            begun = [(item, pool.submit(on_a_free_host, item)) for item in items]
            for item, done in begun:
                with self.subTest(item):
                    done.result()

    def passes(self, *modules, on=None):
        """Each class of these modules of test/agent passes; `on`: how a host runs them, "%s" being their name."""
        command = on or "SGLANG_TEST_SUPERVISOR=systemd python3 -m unittest %s"
        self.side_by_side(lambda host, name: host.must(command % name), classes(*modules))


def classes(*names):
    """The test classes of these modules, or the very classes that are named, below test.agent."""
    loader = unittest.TestLoader()
    tests = flat(loader.loadTestsFromNames(["test.agent." + name for name in names]))
    if loader.errors:
        raise AssertionError("\n".join(loader.errors))
    return sorted({test.id().rpartition(".")[0] for test in tests})


def flat(suite):
    """The tests of a suite of suites."""
    found = []
    for part in suite:
        found += flat(part) if isinstance(part, unittest.TestSuite) else [part]
    return found
