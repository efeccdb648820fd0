#!/usr/bin/env bash
# Makes build/bench-venv with the pinned packages of requirements.txt (about 6 GB: PyPI's torch brings its CUDA
# libraries). Does nothing if the requirements have not changed since the last time.
#   benchmarks/host/setup.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=build/bench-venv requirements=benchmarks/host/requirements.txt
if cmp -s "$requirements" "$venv/installed.txt"; then exit 0; fi
mkdir -p build
[ -x "$venv/bin/pip" ] || python3 -m venv "$venv" || {
  echo "setup.sh: error: python3 cannot make a virtual environment (Debian: apt-get install python3-venv)" >&2; exit 1; }
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
cp "$requirements" "$venv/installed.txt"
