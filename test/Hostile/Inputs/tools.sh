# tools.sh TOOL FOLDER INPUTS OPTIONS FLAG...: runs TOOL in every way, with one line for each.
tool=$1 folder=$2 inputs=$3 options=$4
shift 4
search="evaluator=dry-run max-variants=1 store=$folder/store $options"
pipeline="--pass-pipeline=builtin.module(kb-optimize{$search})"
count() {
  number=$(grep -c 'llvm.func internal.*_impl(' "$folder/out.mlir")
  if [ "$number" = 1 ]; then echo "1 implementation"; else echo "$number implementations"; fi
}
run() { "$tool" "$@" 2> "$folder/log"; echo $?; }
f=$folder o=$folder/out.mlir t=$inputs/tiny.mlir

echo "split: $(run "$@" "$pipeline" --split-input-file "$f/two.mlir" -o "$o"), $(count)"
# No file is left where a part cannot be parsed: standard output shows what became of the others.
echo "split with an error: $(run "$@" "$pipeline" --split-input-file "$f/bad.mlir" -o "$o"), $("$tool" "$@" "$pipeline" --split-input-file "$f/bad.mlir" > "$o" 2> /dev/null; count)"
echo "standard input: $(run "$@" "$pipeline" -o "$o" < "$t"), $(count)"
echo "bytecode: $(run "$@" "$pipeline" --emit-bytecode "$f/in.mlirbc" -o "$f/out.mlirbc"), $(mlir-opt "$f/out.mlirbc" > "$o"; count)"
echo "expected diagnostics: $(run "$@" "$pipeline" --verify-diagnostics "$f/expected.mlir" -o "$o")"
echo "unexpected diagnostics: $(run "$@" "$pipeline" --verify-diagnostics "$t" -o "$o")"
bad="--pass-pipeline=builtin.module(kb-optimize{store=/dev/null/x $options})"
echo "reproducer: $(run "$@" "$bad" --mlir-pass-pipeline-crash-reproducer="$f/again.mlir" "$t" -o "$o"), $(grep -o 'kb-search{' "$f/again.mlir")"
echo "reproduced: $(run "$@" --run-reproducer "$f/again.mlir" -o "$o")"
echo "printing after all passes: $(run "$@" "$pipeline" --mlir-print-ir-after-all "$t" -o "$o"), $(grep -q 'IR Dump After SearchPass (kb-search)' "$f/log" && echo all)"
echo "timing: $(run "$@" "$pipeline" --mlir-timing "$t" -o "$o"), $(grep -o SearchPass "$f/log" | head -1)"
echo "statistics: $(run "$@" "$pipeline" --mlir-pass-statistics "$t" -o "$o")"
{ echo "module {"; cat "$t"; cat "$t"; echo "}"; } | grep -v '^#map' | { echo '#map = affine_map<(i, j) -> (i, j)>'; cat; } > "$f/nested.mlir"
echo "modules side by side: $(run "$@" "--pass-pipeline=builtin.module(builtin.module(kb-optimize{$search}))" "$f/nested.mlir" -o "$o"), $(count)"
echo "in a function: $(run "$@" "--pass-pipeline=builtin.module(func.func(kb-search))" "$t" -o "$o")"
echo "unknown option: $(run "$@" "--pass-pipeline=builtin.module(kb-optimize{frobnicate=1})" "$t" -o "$o"), $(grep -o 'no such option frobnicate' "$f/log")"
echo "no number: $(run "$@" "--pass-pipeline=builtin.module(kb-optimize{max-variants=abc})" "$t" -o "$o"), $(grep -o "'abc' value invalid" "$f/log")"
