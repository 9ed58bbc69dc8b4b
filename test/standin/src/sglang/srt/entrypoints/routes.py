"""The HTTP routes."""

import dataclasses
import json
import logging
import time
from http.server import BaseHTTPRequestHandler

from sglang.srt import answer
from sglang.srt.utils.auth import allowed
from sglang.version import __version__

logger = logging.getLogger("access")


class Routes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A response in two small packets would wait 40 ms for the acknowledgement of the first.
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer_request({})

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError as error:
            return self.reply(400, {"object": "error", "message": f"Invalid JSON: {error}", "code": 400})
        self.answer_request(body)

    def answer_request(self, body):
        path = self.path.split("?")[0]
        args = self.server.server_args
        if not allowed(path, self.headers.get("Authorization"), args.api_key, args.admin_api_key):
            return self.reply(401, {"error": "Unauthorized"})
        route = ROUTES.get((self.command, path))
        if route is None:
            return self.reply(404, {"detail": "Not Found"})
        status, content = route(self.server, body)
        self.reply(status, content)

    def reply(self, status, content):
        data = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        if content is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, form, *values):
        logger.info("%s - %s", self.address_string(), form % values)


def ready(server, body):
    return (200 if server.accepts() else 503), None


def health(server, body):
    if not server.accepts():
        return 503, None
    if not server.early:
        server.generate()
    return 200, None


def ping(server, body):
    return (200 if server.accepts() else 503), None


def model_info(server, body):
    args = server.server_args
    return 200, {
        "model_path": args.model_path,
        "served_model_name": args.served_model_name,
        "tokenizer_path": args.tokenizer_path,
        "is_generation": True,
        "weight_version": args.weight_version,
        "load_format": args.load_format,
        "architectures": ["StandinForCausalLM"],
        **answer.MODEL_INFO,
    }


def server_info(server, body):
    return 200, {
        **dataclasses.asdict(server.server_args),
        "launch_command": server.server_args.launch_command,
        "status": "ready" if server.accepts() else "starting",
        "version": __version__,
        "max_total_num_tokens": server.server_args.max_total_tokens or 4096,
        "startup_time": {"load_weight": server.load_seconds},
        "internal_states": [{"load": 0}],
    }


def models(server, body):
    name = server.server_args.served_model_name
    card = {"id": name, "object": "model", "created": int(server.started), "owned_by": "sglang", "root": name, "max_model_len": 512}
    return 200, {"object": "list", "data": [card]}


def loads(server, body):
    one = {"dp_rank": 0, "num_running_reqs": server.running, "num_waiting_reqs": 0, "token_usage": 0.0}
    return 200, {"timestamp": time.time(), "version": __version__, "dp_rank_count": 1, "loads": [one]}


def generate(server, body):
    if body.get("text") is None and body.get("input_ids") is None:
        return 400, {"error": {"message": "Either text, input_ids or input_embeds should be provided."}}
    server.generate()
    meta = {"id": "standin", "finish_reason": {"type": "length", "length": 1}, "prompt_tokens": 1, "completion_tokens": 1}
    return 200, {"text": answer.TEXT, "output_ids": [1], "meta_info": {**meta, "weight_version": server.server_args.weight_version}}


def completion(server, body, kind, choice):
    server.generate()
    return 200, {
        "id": "standin",
        "object": kind,
        "created": int(time.time()),
        "model": body.get("model") or server.server_args.served_model_name,
        "choices": [{"index": 0, "finish_reason": "length", **choice}],
        "usage": {"prompt_tokens": 1, "total_tokens": 2, "completion_tokens": 1},
    }


def completions(server, body):
    return completion(server, body, "text_completion", {"text": answer.TEXT})


def chat_completions(server, body):
    return completion(server, body, "chat.completion", {"message": {"role": "assistant", "content": answer.TEXT}})


def pause_generation(server, body):
    server.paused = True
    return 200, {"status": "ok", "message": "Generation paused successfully."}


def continue_generation(server, body):
    server.paused = False
    return 200, {"status": "ok", "message": "Generation continued successfully."}


ROUTES = {
    ("GET", "/ready"): ready,
    ("GET", "/health"): health,
    ("GET", "/health_generate"): health,
    ("GET", "/ping"): ping,
    ("GET", "/model_info"): model_info,
    ("GET", "/get_model_info"): model_info,
    ("GET", "/server_info"): server_info,
    ("GET", "/get_server_info"): server_info,
    ("GET", "/v1/models"): models,
    ("GET", "/v1/loads"): loads,
    ("POST", "/generate"): generate,
    ("POST", "/v1/completions"): completions,
    ("POST", "/v1/chat/completions"): chat_completions,
    ("POST", "/pause_generation"): pause_generation,
    ("POST", "/continue_generation"): continue_generation,
}
