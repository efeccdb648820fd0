"""spoil.py FILE newer|older|library|pages|json|strategy|journal: damages a tuning database, or makes it or a journal another version's."""
import json
import sqlite3
import sys

MASK = (1 << 64) - 1


def avalanche(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def hash64(text):
    """contentHash64() of Support/Hash.h."""
    a, b = 0xCBF29CE484222325, 0x9AE16A3B2F90404F
    for byte in text:
        a = (a ^ byte) * 0x100000001B3 & MASK
        b = (b ^ byte) * 0x9E3779B97F4A7C15 & MASK
        b ^= b >> 29
    return avalanche(avalanche(a ^ len(text)) + 3 * avalanche((b + len(text)) & MASK) & MASK)


path, how = sys.argv[1:]
if how == "pages":
    data = bytearray(open(path, "rb").read())
    for at in range(4096, len(data), 7):
        data[at] ^= 0x5A
    open(path, "wb").write(data)
elif how == "journal":
    lines = open(path, "rb").read().splitlines(keepends=True)
    digits, text = lines[0].split(b" ", 1)
    assert int(digits, 16) == hash64(text.rstrip()), "the hash of journals has changed"
    text = json.dumps(dict(json.loads(text), version=9)).encode()
    open(path, "wb").write(b"%016x " % hash64(text) + text + b"\n" + b"".join(lines[1:]))
else:
    connection = sqlite3.connect(path)
    connection.execute({
        "newer": "pragma user_version = 99",
        "older": "pragma user_version = 0",
        "library": "update entries set strategy_library = 'other'",
        "json": "update entries set recipe = '{bad'",
        "strategy": "update entries set recipe = replace(recipe, 'elementwise', 'nowhere')",
    }[how])
    connection.commit()
