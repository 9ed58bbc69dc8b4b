"""`--config FILE.yaml`: its `key: value` lines become arguments before those of the command line, which so win."""

import json
from pathlib import Path


def _value(text):
    if text[:1] == '"':
        return json.loads(text)
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    return {"true": True, "false": False, "null": None, "": None}.get(text, text)


def merge_config_with_args(argv):
    at = argv.index("--config")
    if argv.count("--config") > 1:
        raise ValueError("Multiple config files specified! Only one allowed.")
    if at == len(argv) - 1:
        raise ValueError("No config file specified after --config flag!")
    path = Path(argv[at + 1])
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise ValueError(f"Config file must be YAML format, got: {path.suffix}")
    if not path.exists():
        raise ValueError(f"Config file not found: {path}")
    text = path.read_text()
    # JSON is YAML too, and is what a writer without a YAML library has.
    if text.lstrip().startswith("{"):
        settings = json.loads(text)
    else:
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        settings = {key.strip().strip("\"'"): _value(value.strip()) for key, value in (line.split(":", 1) for line in lines)}
    merged = []
    for key, value in settings.items():
        flag = "--" + key.replace("_", "-")
        if value is True:
            merged.append(flag)
        elif value is not False and value is not None:
            merged += [flag, str(value)]
    return merged + argv[:at] + argv[at + 2 :]
