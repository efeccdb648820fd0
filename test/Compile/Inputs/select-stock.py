"""Gives every kernel of an outlined module its stock lowering as the selected variant, as a search would
give it a better one.

    select-stock.py OUTLINED.mlir > SELECTED.mlir
"""

import re
import subprocess
import sys
import tempfile


def run(*command, stdin=None):
    return subprocess.run(command, check=True, input=stdin, stdout=subprocess.PIPE).stdout


def aliases(text):
    return re.findall(r"^([#!]\w+) = .*\n", text, flags=re.M)


def definitions(text):
    return "".join(re.findall(r"^[#!]\w+ = .*\n", text, flags=re.M))


def implementation(kernel, names, number):
    """The aliases, the operations and the workspace of the implementation of one kernel."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
        source.write(names + "module {\n" + kernel + "}\n")
        source.flush()
        bytecode = run("kb-compile", "--emit=implementation", source.name)
        artifact = run("kb-compile", "--emit=artifact", source.name)
    workspace = re.search(rb'"workspace_bytes":(\d+)', artifact).group(1).decode()
    text = run("kb-opt", stdin=bytecode).decode()
    # Aliases of several modules come together in one.
    for alias in sorted(aliases(text), key=len, reverse=True):
        text = re.sub(re.escape(alias) + r"\b", f"{alias[0]}k{number}_{alias[1:]}", text)
    body = re.search(r"^module.*?\{\n(.*)^\}", text, flags=re.S | re.M).group(1)
    return definitions(text), body, workspace


def main():
    text = open(sys.argv[1]).read()
    names = definitions(text)
    kernels = re.findall(r"^    kb\.kernel @.*?^    \}\n", text, flags=re.S | re.M)
    more_names, variants = "", ""
    for number, kernel in enumerate(kernels):
        name = re.match(r"    kb\.kernel @(\w+)", kernel).group(1)
        extra, body, workspace = implementation(kernel, names, number)
        more_names += extra
        attributes = f'recipe = "{{}}", selected, workspace_bytes = {workspace} : i64'
        variants += f"    kb.variant @{name} attributes {{{attributes}}} {{\n{body}    }}\n"
    end = text.rindex("  }\n}")
    print(more_names + text[:end] + variants + text[end:])


main()
