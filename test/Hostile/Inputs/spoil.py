"""spoil.py DATABASE newer|pages|json|strategy: damages a tuning database."""
import sqlite3
import sys

path, how = sys.argv[1:]
if how == "pages":
    data = bytearray(open(path, "rb").read())
    for at in range(4096, len(data), 7):
        data[at] ^= 0x5A
    open(path, "wb").write(data)
else:
    connection = sqlite3.connect(path)
    connection.execute({
        "newer": "pragma user_version = 99",
        "json": "update entries set recipe = '{bad'",
        "strategy": "update entries set recipe = replace(recipe, 'elementwise', 'nowhere')",
    }[how])
    connection.commit()
