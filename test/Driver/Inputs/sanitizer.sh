#!/bin/sh
# Stands in for compute-sanitizer: runs the command, or finds fault under the tool that KB_FAULT names.
tool=$2
while [ "${1#--}" != "$1" ]; do shift 2; done
if [ "$tool" = "$KB_FAULT" ]; then
  echo "========= COMPUTE-SANITIZER"
  echo "========= Error: a race"
  exit 9
fi
exec "$@"
