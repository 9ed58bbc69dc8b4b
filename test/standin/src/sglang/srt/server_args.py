"""The command line: names, aliases, choices and defaults of SGLang 0.5.23, for the flags in common use."""

import argparse
import dataclasses
import logging
import shlex
import sys
from typing import Annotated as A
from typing import Optional, get_args, get_origin, get_type_hints

ATTENTION_BACKEND_CHOICES = ["triton", "torch_native", "flex_attention", "dsa", "fa3", "fa4", "flashinfer", "flashmla"]
ATTENTION_BACKEND_CHOICES += ["trtllm_mla", "cutedsl_mla", "trtllm_mha", "aiter", "wave", "intel_amx", "ascend", "intel_xpu"]
LOAD_FORMAT_CHOICES = ["auto", "pt", "safetensors", "npcache", "dummy", "sharded_state", "gguf", "bitsandbytes", "layered"]
QUANTIZATION_CHOICES = ["awq", "fp8", "mxfp8", "gptq", "gptq_marlin", "awq_marlin", "bitsandbytes", "gguf", "w8a8_int8", "mxfp4"]
DTYPE_CHOICES = ["auto", "half", "float16", "bfloat16", "float", "float32"]
KV_CACHE_DTYPE_CHOICES = ["auto", "fp8_e5m2", "fp8_e4m3", "mxfp8", "bf16", "bfloat16", "nvfp4", "fp4_mx_block16"]
SCHEDULE_POLICY_CHOICES = ["lpm", "random", "fcfs", "dfs-weight", "lof", "priority", "routing-key", "hrrn"]


class DeprecatedStoreTrueAction(argparse.Action):
    def __init__(self, option_strings, dest, default=False, help=None):
        super().__init__(option_strings, dest, nargs=0, default=default, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        print(f"{option_string} is deprecated.", file=sys.stderr)
        setattr(namespace, self.dest, True)


def human_readable_int(text):
    scale = {"k": 1000, "m": 1000**2, "K": 1024, "M": 1024**2}.get(text[-1:])
    return int(float(text[:-1]) * scale) if scale else int(text)


@dataclasses.dataclass(frozen=True)
class Arg:
    help: str = ""
    choices: Optional[list] = None
    aliases: tuple = ()
    type: Optional[object] = None
    action: Optional[object] = None


@dataclasses.dataclass
class ServerArgs:
    model_path: A[str, Arg("The path of the model weights.", aliases=("--model",))] = None
    tokenizer_path: A[Optional[str], Arg("The path of the tokenizer.")] = None
    load_format: A[str, Arg("The format of the weights.", choices=LOAD_FORMAT_CHOICES)] = "auto"
    trust_remote_code: A[bool, Arg("Allow custom models of the Hub.")] = False
    context_length: A[Optional[int], Arg("The maximum context length.", type=human_readable_int)] = None
    revision: A[Optional[str], Arg("The model version to use.")] = None
    host: A[str, Arg("The host of the HTTP server.")] = "127.0.0.1"
    port: A[int, Arg("The port of the HTTP server.")] = 30000
    nccl_port: A[Optional[int], Arg("The port for NCCL.")] = None
    skip_server_warmup: A[bool, Arg("Skip warmup.")] = False
    dtype: A[str, Arg("Data type of weights.", choices=DTYPE_CHOICES)] = "auto"
    quantization: A[Optional[str], Arg("The quantization method.", choices=QUANTIZATION_CHOICES)] = None
    kv_cache_dtype: A[str, Arg("Data type of the KV cache.", choices=KV_CACHE_DTYPE_CHOICES)] = "auto"
    mem_fraction_static: A[Optional[float], Arg("The fraction of memory for weights and KV cache.")] = None
    max_running_requests: A[Optional[int], Arg("The maximum number of running requests.")] = None
    max_total_tokens: A[Optional[int], Arg("The maximum number of tokens in the pool.", type=human_readable_int)] = None
    chunked_prefill_size: A[Optional[int], Arg("Tokens in a prefill chunk.")] = None
    schedule_policy: A[str, Arg("The scheduling policy.", choices=SCHEDULE_POLICY_CHOICES)] = "fcfs"
    page_size: A[Optional[int], Arg("The number of tokens in a page.")] = None
    device: A[Optional[str], Arg("The device to use.")] = None
    tp_size: A[int, Arg("The tensor parallelism size.", aliases=("--tensor-parallel-size",))] = 1
    pp_size: A[int, Arg("The pipeline parallelism size.", aliases=("--pipeline-parallel-size",))] = 1
    dp_size: A[int, Arg("The data parallelism size.", aliases=("--data-parallel-size",))] = 1
    base_gpu_id: A[int, Arg("The first GPU.")] = 0
    random_seed: A[Optional[int], Arg("The random seed.")] = None
    watchdog_timeout: A[float, Arg("Seconds until a stuck forward batch kills the server.")] = 300
    sleep_on_idle: A[bool, Arg("Reduce CPU usage when idle.")] = False
    log_level: A[str, Arg("The logging level.")] = "info"
    log_level_http: A[Optional[str], Arg("The logging level of the HTTP server.")] = None
    enable_metrics: A[bool, Arg("Enable Prometheus metrics.")] = False
    api_key: A[Optional[str], Arg("The API key of the server.")] = None
    admin_api_key: A[Optional[str], Arg("The API key of administrative endpoints.")] = None
    served_model_name: A[Optional[str], Arg("The name that /v1/models shows.")] = None
    weight_version: A[str, Arg("Version identifier of the weights.")] = "default"
    chat_template: A[Optional[str], Arg("The chat template.")] = None
    tool_call_parser: A[Optional[str], Arg("The parser of tool calls.")] = None
    reasoning_parser: A[Optional[str], Arg("The parser of reasoning.")] = None
    dist_init_addr: A[Optional[str], Arg("Address of rank 0.", aliases=("--nccl-init-addr",))] = None
    nnodes: A[int, Arg("The number of nodes.")] = 1
    node_rank: A[int, Arg("The node rank.")] = 0
    json_model_override_args: A[str, Arg("JSON laid over the model's config.")] = "{}"
    attention_backend: A[Optional[str], Arg("The attention kernels.", choices=ATTENTION_BACKEND_CHOICES)] = None
    sampling_backend: A[Optional[str], Arg("The sampling kernels.", choices=["ascend", "flashinfer", "intel_xpu", "pytorch"])] = None
    grammar_backend: A[Optional[str], Arg("The grammar engine.", choices=["xgrammar", "outlines", "llguidance", "none"])] = None
    speculative_algorithm: A[Optional[str], Arg("Speculative algorithm.")] = None
    speculative_draft_model_path: A[Optional[str], Arg("The draft model.", aliases=("--speculative-draft-model",))] = None
    speculative_num_steps: A[Optional[int], Arg("Draft steps.")] = None
    speculative_eagle_topk: A[Optional[int], Arg("Draft branches.")] = None
    speculative_num_draft_tokens: A[Optional[int], Arg("Draft tokens.")] = None
    disable_radix_cache: A[bool, Arg("Disable prefix caching.")] = False
    disable_cuda_graph: A[bool, Arg("Disable CUDA graphs.", action=DeprecatedStoreTrueAction)] = False
    disable_custom_all_reduce: A[bool, Arg("Fall back to NCCL.")] = False

    def __post_init__(self):
        self.tokenizer_path = self.tokenizer_path or self.model_path
        self.served_model_name = self.served_model_name or self.model_path

    @staticmethod
    def add_cli_args(parser):
        hints = get_type_hints(ServerArgs, include_extras=True)
        for field in dataclasses.fields(ServerArgs):
            kind, arg = get_args(hints[field.name])
            names = ["--" + field.name.replace("_", "-"), *arg.aliases]
            if arg.action or kind is bool:
                parser.add_argument(*names, action=arg.action or "store_true", help=arg.help)
                continue
            inner = get_args(kind)[0] if get_origin(kind) is not None else kind
            required = field.name == "model_path"
            parser.add_argument(*names, type=arg.type or inner, choices=arg.choices, default=field.default, required=required, help=arg.help)
        parser.add_argument("--config", type=str, help="Read arguments from a YAML file.")

    @classmethod
    def from_cli_args(cls, args):
        return cls(**{field.name: getattr(args, field.name) for field in dataclasses.fields(cls)})

    def url(self):
        return f"http://{self.host}:{self.port}"


def prepare_server_args(argv):
    parser = argparse.ArgumentParser(prog="sglang serve")
    ServerArgs.add_cli_args(parser)
    if "--config" in argv:
        from sglang.srt.utils.server_args_config_parser import merge_config_with_args

        argv = merge_config_with_args(argv)
    raw = parser.parse_args(argv)
    prefix = "[%(asctime)s TP0] " if raw.tp_size > 1 else "[%(asctime)s] "
    level = getattr(logging, raw.log_level.upper())
    logging.basicConfig(level=level, format=prefix + "%(message)s", datefmt="%Y-%m-%d %H:%M:%S", force=True)
    server_args = ServerArgs.from_cli_args(raw)
    # How it was asked for, with what the config file said: /server_info shows it, keys and all, as SGLang's does.
    server_args.launch_command = shlex.join(["python", "-m", "sglang.launch_server", *argv])
    return server_args
