"""llmock on a free port, until standard input ends."""

import json
import socket
import sys
import threading

import uvicorn
from llmock.main import create_app

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
server = uvicorn.Server(uvicorn.Config(create_app(), log_level="critical"))
threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
while not server.started:
    threading.Event().wait(0.05)
print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}), flush=True)
sys.stdin.read()
