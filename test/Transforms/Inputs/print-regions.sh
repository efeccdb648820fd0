#!/usr/bin/env bash
# Prints the regions of every module in a folder.
set -euo pipefail
for file in "$1"/*.mlir; do
  echo "-- $(basename "$file" .mlir)"
  kb-opt "$file" --kb-outline=print-regions -o /dev/null 2>&1
done
