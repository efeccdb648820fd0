# children.sh FOLDER BIN MODE...: makes FOLDER/compile-MODE and FOLDER/worker-MODE, children that misbehave like that.
set -e
folder=$1 bin=$2
shift 2
rm -rf "$folder" && mkdir -p "$folder" && echo "$bin" > "$folder/real"
for mode; do
  for tool in compile worker; do
    cp "$(dirname "$0")/child.py" "$folder/$tool-$mode" && chmod +x "$folder/$tool-$mode"
  done
done
