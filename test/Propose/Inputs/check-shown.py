"""Every message that the server got was shown: check-shown.py REQUESTS SHOWN"""

import json
import sys

shown = open(sys.argv[2]).read()
requests = [json.loads(line)["body"] for line in open(sys.argv[1])]
assert requests
for body in requests:
    for message in body.pop("messages"):
        assert "[%s]\n%s\n" % (message["role"], message["content"]) in shown, message
    assert "[request]\n" + json.dumps(body, separators=(",", ":")) in shown, body
assert shown.count("--- prompt\n") == len(requests)
