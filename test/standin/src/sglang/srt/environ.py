"""Environment variables, declared as SGLang declares them."""

import os


class EnvField:
    def __init__(self, default, secret=False):
        self.default, self.secret = default, secret

    def __set_name__(self, owner, name):
        self.name = name

    def parse(self, value):
        raise NotImplementedError

    def is_set(self):
        return self.name in os.environ

    def get(self):
        return self.parse(os.environ[self.name]) if self.is_set() else self.default


class EnvStr(EnvField):
    def parse(self, value):
        return value


class EnvInt(EnvField):
    def parse(self, value):
        return int(value)


class EnvFloat(EnvField):
    def parse(self, value):
        return float(value)


class EnvBool(EnvField):
    def parse(self, value):
        lowered = value.lower()
        if lowered in ("true", "1", "yes", "y"):
            return True
        if lowered in ("false", "0", "no", "n"):
            return False
        raise ValueError(f'"{value}" is not a valid boolean value')


class Envs:
    SGLANG_USE_CPU_ENGINE = EnvBool(False)
    SGLANG_HEALTH_CHECK_TIMEOUT = EnvInt(20)
    SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION = EnvBool(True)
    SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN = EnvBool(False)
    SGLANG_CACHE_DIR = EnvStr("~/.cache/sglang")
    SGLANG_CPU_OMP_THREADS_BIND = EnvStr("all")
    SGLANG_NCCL_SO_PATH = EnvStr(None)
    SGLANG_WARMUP_TIMEOUT = EnvFloat(-1)

    # How it shall misbehave; the README has the table.
    STANDIN_EXIT_AT_START = EnvInt(None)
    STANDIN_READY_AFTER = EnvFloat(0.0)
    STANDIN_NEVER_READY = EnvBool(False)
    STANDIN_EARLY_GREEN = EnvBool(False)
    STANDIN_DIE_AFTER = EnvFloat(None)
    STANDIN_IGNORE_TERM = EnvBool(False)
    STANDIN_SLOW_STOP = EnvFloat(0.0)
    STANDIN_SETSID_CHILDREN = EnvBool(False)
    STANDIN_GPU_LOCK = EnvStr(None)
    STANDIN_HANG_ON_PORT_TAKEN = EnvBool(False)


envs = Envs()
