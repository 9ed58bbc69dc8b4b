"""Writes a tiny random Llama with a byte-level tokenizer: what a server needs to answer, and nothing to learn from.

    make_model.py OUT       OUT is made whole or not at all; the same bytes each time

Standard library only, so that no machine needs torch to have a model. Its answers are letters and blanks, as all other
rows of the output layer are zero.
"""

import json
import os
import random
import shutil
import struct
import sys

HIDDEN, INNER, LAYERS, HEADS, KV_HEADS = 64, 128, 2, 4, 2
SPECIAL = ["<s>", "</s>", "<pad>"]
SPOKEN = set(b" abcdefghijklmnopqrstuvwxyz")
CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"


def byte_names():
    """Byte => the printable character by which byte-level tokenizers write it."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    names = {byte: chr(byte) for byte in plain}
    names.update({byte: chr(256 + place) for place, byte in enumerate(others)})
    return names


def vocabulary():
    tokens = SPECIAL + [name for _, name in sorted(byte_names().items())]
    return {token: place for place, token in enumerate(tokens)}


def tokenizer():
    exact = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    special = [{"id": place, "content": token, **exact} for place, token in enumerate(SPECIAL)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    bpe = {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False, "vocab": vocabulary(), "merges": []}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": bpe,
    }


def tokenizer_config():
    names = dict(zip(["bos_token", "eos_token", "pad_token"], SPECIAL))
    return {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, "chat_template": CHAT, **names}


def config():
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(vocabulary()),
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "hidden_act": "silu",
        "max_position_embeddings": 512,
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 2,
    }


def shapes():
    """Name of each weight => its shape, in the order in which they are written."""
    narrow = HIDDEN // HEADS * KV_HEADS
    found = {"model.embed_tokens.weight": (len(vocabulary()), HIDDEN)}
    for layer in range(LAYERS):
        at = "model.layers.%d." % layer
        found[at + "input_layernorm.weight"] = (HIDDEN,)
        found[at + "self_attn.q_proj.weight"] = (HIDDEN, HIDDEN)
        found[at + "self_attn.k_proj.weight"] = (narrow, HIDDEN)
        found[at + "self_attn.v_proj.weight"] = (narrow, HIDDEN)
        found[at + "self_attn.o_proj.weight"] = (HIDDEN, HIDDEN)
        found[at + "post_attention_layernorm.weight"] = (HIDDEN,)
        found[at + "mlp.gate_proj.weight"] = (INNER, HIDDEN)
        found[at + "mlp.up_proj.weight"] = (INNER, HIDDEN)
        found[at + "mlp.down_proj.weight"] = (HIDDEN, INNER)
    found["model.norm.weight"] = (HIDDEN,)
    found["lm_head.weight"] = (len(vocabulary()), HIDDEN)
    return found


def weight(name, shape, chance):
    """The bytes of one weight in bfloat16: the upper half of each float."""
    if len(shape) == 1:
        values = [1.0] * shape[0]
    elif name == "lm_head.weight":
        spoken = [False] * len(SPECIAL) + [byte in SPOKEN for byte in range(256)]
        values = [chance.gauss(0, 1) if row else 0.0 for row in spoken for _ in range(shape[1])]
    else:
        values = [chance.gauss(0, 0.3) for _ in range(shape[0] * shape[1])]
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def safetensors():
    chance = random.Random(0)
    head, body = {"__metadata__": {"format": "pt"}}, b""
    for name, shape in shapes().items():
        data = weight(name, shape, chance)
        head[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def make_model(out):
    """Writes the model's folder `out`; one that is there is left alone."""
    if os.path.isdir(out):
        return
    beside = "%s.%d" % (out.rstrip("/"), os.getpid())
    os.makedirs(beside)
    try:
        texts = {"config.json": config(), "tokenizer.json": tokenizer(), "tokenizer_config.json": tokenizer_config()}
        for name, value in texts.items():
            with open(os.path.join(beside, name), "w", encoding="utf-8") as file:
                json.dump(value, file, indent=1, ensure_ascii=False)
        with open(os.path.join(beside, "model.safetensors"), "wb") as file:
            file.write(safetensors())
        os.rename(beside, out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make_model(sys.argv[1])
