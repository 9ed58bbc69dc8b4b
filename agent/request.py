"""One request as an operation sees it."""

from agent.fault import Fault
from agent.layout import Layout


class Request:
    """What an operation is given.

    args: the arguments, as JSON gave them; body: a readable binary stream of `body_size` bytes (empty if none);
    progress(text, **fields): says where the work stands (shown while it is the newest line);
    reply(data): sends bytes that go before the result, in pieces of any size;
    check(): raises Fault("cancelled") once the caller has given up - call it between steps that may be left undone.
    """

    def __init__(self, args, body=None, body_size=0, progress=None, cancelled=None, reply=None):
        self.args = args
        self.body = body
        self.body_size = body_size
        self._progress = progress
        self._cancelled = cancelled
        self._reply = reply

    @property
    def layout(self):
        return Layout(self.args["root"])

    def progress(self, text, **fields):
        if self._progress is not None:
            self._progress(dict(fields, text=text))

    def reply(self, data):
        if self._reply is not None:
            self._reply(data)

    def cancelled(self):
        return self._cancelled is not None and self._cancelled.is_set()

    def check(self):
        if self.cancelled():
            raise Fault("cancelled", "cancelled before anything that runs was touched")
