"""A scripted server of Chat Completions: serve.py PORTFILE SCRIPT [LOG]

SCRIPT is a comma-separated list of behaviours, one a request; the last one repeats. `answer` patches a knob of the variant that was asked
about. LOG gets each request as a line of JSON: path, headers, body.
"""

import http.server
import json
import re
import sys
import threading
import time

script = sys.argv[2].split(",")
log = open(sys.argv[3], "a") if len(sys.argv) > 3 else None
lock = threading.Lock()
served = 0


def patch(request):
    """A patch that the schema and the untried values of the question allow."""
    user = request["messages"][1]["content"]
    schema = (request.get("response_format", {}).get("json_schema", {}).get("schema")
              or request.get("response_format", {}).get("schema"))
    if not schema:
        schema = json.loads(request["messages"][-1]["content"].strip().splitlines()[-1])
    properties = schema["properties"]
    parent = re.search(r"variant (\d+)", user.split("This is question")[0].rsplit("\n\n", 1)[-1])
    parent = int(parent.group(1)) if parent else properties["parent"]["enum"][-1]
    untried = re.search(r"next to it: (.*)\.\n", user)
    answer = {"rationale": "fewer trips through the loop", "parent": parent, "strategy": "", "knobs": [], "edits": [], "payload": ""}
    if untried and untried.group(1) != "no single knob":
        name, *values = untried.group(1).split("; ")[0].split(" ")
    else:
        name = properties["knobs"]["items"]["anyOf"][0]["properties"]["name"]["enum"][0]
        values = re.search(r"- %s: ([^;]*);" % name, user).group(1).split(" ")
    # A function of the question, not of the order in which questions come.
    number = re.search(r"This is question (\d+)", user)
    value = values[(int(number.group(1)) if number else 0) % len(values)]
    answer["knobs"] = [{"name": name, "value": int(value) if value.lstrip("-").isdigit() else value}]
    return answer


def completion(text, finish="stop", usage=True):
    reply = {"id": "1", "model": "scripted", "choices": [{"index": 0, "finish_reason": finish,
             "message": {"role": "assistant", "content": text}}]}
    if usage:
        reply["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return json.dumps(reply).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        global served
        text = self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(text)
        with lock:
            behaviour = script[min(served, len(script) - 1)]
            served += 1
            if log:
                log.write(json.dumps({"path": self.path, "headers": dict(self.headers), "body": request}) + "\n")
                log.flush()
        form = request.get("response_format", {}).get("type", "text")
        self.close_connection = behaviour in ("cut", "hang")
        if behaviour in ("json_object", "text") and form != behaviour:
            self.send(500 if form == "json_schema" else 400, b'{"error": {"message": "unknown response_format"}}')
        elif behaviour == "text":
            self.send(200, completion("<think>{</think>Here it is:\n```json\n" + json.dumps(patch(request)) + "\n```\n"))
        elif behaviour in ("answer", "json_object"):
            self.send(200, completion(json.dumps(patch(request))))
        elif behaviour == "slow":
            time.sleep(0.5)
            self.send(200, completion(json.dumps(patch(request))))
        elif behaviour == "nousage":
            self.send(200, completion(json.dumps(patch(request)), usage=False))
        elif behaviour == "429":
            self.send(429, b'{"error": {"message": "slow down"}}', [("retry-after", "1")])
        elif behaviour == "quota":
            self.send(429, b'{"error": {"message": "no credit", "code": "insufficient_quota"}}')
        elif behaviour == "500":
            self.send(500, b"Internal Server Error")
        elif behaviour == "503":
            self.send(503, b"<html>overloaded</html>")
        elif behaviour == "hang":
            time.sleep(30)
        elif behaviour == "cut":
            body = completion(json.dumps(patch(request)))
            self.send(200, body[:50], length=len(body))
        elif behaviour == "schema":
            self.send(200, completion('{"rationale": 7, "speed": "more"}'))
        elif behaviour == "truncated":
            self.send(200, completion(json.dumps(patch(request))[:40], finish="length"))
        elif behaviour == "envelope":
            self.send(200, b'{"object": "chat.completion", "choices": [{"mess')
        elif behaviour == "huge":
            self.send_response(200)
            self.send_header("Content-Length", str(100 << 20))
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b"x" * (1 << 20))
            except OSError:
                self.close_connection = True
        elif behaviour == "utf8":
            self.send(200, completion(json.dumps(patch(request))).replace(b"fewer", b"f\xff\xfe\xc0er"))
        elif behaviour == "deep":
            self.send(200, b"[" * 1000000)
        elif behaviour == "denied":
            self.send(401, json.dumps({"error": {"message": "bad key " + self.headers.get("Authorization", "")}}).encode())
        elif behaviour == "echo":
            answer = patch(request)
            answer["rationale"] = "your key is " + self.headers.get("Authorization", "none")
            self.send(200, completion(json.dumps(answer)))
        elif behaviour == "redirect":
            self.send(302, b"", [("Location", "http://127.0.0.1:9/steal")])
        else:
            raise ValueError(behaviour)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
with open(sys.argv[1], "w") as port:
    port.write(str(server.server_address[1]))
server.serve_forever()
