"""Package indexes as uv and pip are told of them, by real runs against a server of the test's own."""

import base64
import contextlib
import glob
import http.server
import importlib.util
import os
import sys
import threading
import unittest

from agent.fault import Fault
from agent.venv import look, uv
from test.agent.place import PlaceTest, new_venv, python, write
from test.agent.wheels import wheel

ACCOUNT = "user:a-passw0rd-of-the-test"
ASKED = {"/a/nosuch/", "/b/nosuch/", "/c%2C%20d", "/e"}


class Index(http.server.BaseHTTPRequestHandler):
    """An index that has nothing, and looks at every process's arguments while it is asked."""

    def do_GET(self):
        if "Authorization" not in self.headers:
            # pip tells the account only to who asks for it.
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic")
            self.end_headers()
            return
        self.server.asked.append((self.path, self.headers["Authorization"]))
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if ACCOUNT.encode() in file.read():
                    self.server.shown.append(path)
        if self.path.endswith("/"):
            self.send_error(404)
            return
        # uv goes on only after a page of links that is there.
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


class AnIndexWithAPassword(PlaceTest):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        self.server.asked, self.server.shown = [], []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def asked(self, installer):
        """Paths that a failing install from two indexes and two pages of links has asked for with the account."""
        url = "http://%s@127.0.0.1:%d/" % (ACCOUNT, self.server.server_port)
        indexes = {"indexUrl": url + "a", "extraIndexUrl": [url + "b"], "findLinks": [url + "c, d", url + "e"]}
        with self.assertRaises(Fault) as caught:
            installer.install(self.venv, ["nosuch==1"], indexes, True)
        self.assertNotIn(ACCOUNT, str(caught.exception.report()) + "".join(self.said))
        self.assertEqual(self.server.shown, [])
        header = "Basic " + base64.b64encode(ACCOUNT.encode()).decode()
        self.assertEqual({said for _, said in self.server.asked}, {header})
        return {path for path, _ in self.server.asked}

    def test_is_asked_by_uv_and_no_process_shows_the_password(self):
        installer = uv.find(self.request())
        if installer.uv is None:
            self.skipTest("there is no uv here")
        self.assertEqual(self.asked(installer), ASKED)

    @unittest.skipIf(importlib.util.find_spec("pip") is None, "needs a pip")
    def test_is_asked_by_pip_and_no_process_shows_the_password(self):
        tools = self.layout.at("tools", "bin")
        os.makedirs(tools)
        pip = os.path.join(tools, "pip")
        with open(pip, "w") as file:
            file.write('#!/bin/sh\nexec "%s" -m pip "$@"\n' % sys.executable)
        os.chmod(pip, 0o755)
        self.assertEqual(self.asked(uv.Installer(self.request(), None)), ASKED)


class WhatALinkMayBe(PlaceTest):
    def test_a_folder_whose_name_has_spaces_and_commas_is_found_by_uv_and_by_pip(self):
        folder = os.path.join(self.top, "my wheels, all")
        filename, data = wheel("p", "1", {"p.py": "x = 1\n"})
        write(os.path.join(folder, filename), data)
        for installer in (uv.find(self.request()), uv.Installer(self.request(), None)):
            venv = os.path.join(self.top, "uv" if installer.uv else "pip")
            new_venv(venv)
            installer.install(venv, ["p==1"], {"findLinks": [folder]}, True)
            self.assertEqual(python(venv, "import p; print(p.x)"), "1")

    def test_a_path_with_an_at_sign_is_no_account(self):
        at = os.path.join(self.top, "venv@2")
        os.rename(self.venv, at)
        self.make(base={"adopt": at})
        self.assertEqual(look.venvs(self.layout)[0]["v"]["base"]["path"], at)


if __name__ == "__main__":
    unittest.main()
