"""Drives kb-compile --serve from tests."""

import json
import os
import select
import subprocess
import time

KERNEL = {
    "name": "softmax",
    "kind": "row-reduction",
    "arguments": [
        {"is_output": False, "type": "f32", "shape": [64, 128]},
        {"is_output": True, "type": "f32", "shape": [64, 128]},
    ],
}


def encode(message, blob=b""):
    text = json.dumps(message).encode()
    return b"%d %d\n" % (len(text), len(blob)) + text + blob


class Server:
    def __init__(self, *command):
        self.process = subprocess.Popen(
            command or ["kb-compile", "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.buffer = b""
        self.next_id = 1

    def send(self, message, blob=b""):
        self.process.stdin.write(encode(message, blob))
        self.process.stdin.flush()

    def _fill(self, timeout):
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        if not ready:
            raise TimeoutError("no answer")
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            raise EOFError("end of file, exit status %r" % self.process.wait())
        self.buffer += data

    def receive(self, timeout=60):
        while b"\n" not in self.buffer:
            self._fill(timeout)
        line, rest = self.buffer.split(b"\n", 1)
        json_bytes, blob_bytes = map(int, line.split())
        while len(rest) < json_bytes + blob_bytes:
            self._fill(timeout)
            rest = self.buffer.split(b"\n", 1)[1]
        self.buffer = rest[json_bytes + blob_bytes:]
        return json.loads(rest[:json_bytes]), rest[json_bytes:json_bytes + blob_bytes]

    def hello(self):
        self.send({"type": "hello", "protocol": 1})
        return self.receive()[0]

    def request(self, message, blob=b""):
        message = dict(message, id=self.next_id)
        self.next_id += 1
        self.send(message, blob)
        reply, data = self.receive()
        assert reply.get("id") == message["id"], reply
        return reply, data

    def add_kernel(self, path, description):
        with open(path, "rb") as file:
            return self.request({"type": "kernel", "kernel": description}, file.read())[0]

    def start_build(self, recipe, output="artifact", kernel="softmax"):
        number = self.next_id
        self.next_id += 1
        self.send({"type": "build", "id": number, "kernel": kernel, "output": output,
                   "recipe": dict({"payload": "", "strategy_hash": "", "knobs": {}}, **recipe)})
        return number

    def build(self, recipe, output="artifact", kernel="softmax"):
        number = self.start_build(recipe, output, kernel)
        reply, data = self.receive()
        assert reply["id"] == number, reply
        return reply, data

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=10)


def timed(action):
    start = time.monotonic()
    return action(), time.monotonic() - start
