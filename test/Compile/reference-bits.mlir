// RUN: not kb-compile --emit=lowered --recipe='{"strategy": "reference", "knobs": {}}' %s 2>&1 | FileCheck %s
// RUN: kb-compile --emit=static %s
// CHECK: build_failed: 'arith.bitcast' op depends on the bits of a float
#id = affine_map<(d0) -> (d0)>
kb.kernel @bits ins(%x: tensor<8xf32>) outs(%y: tensor<8xi32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8xi32>) {
  ^bb0(%a: f32, %b: i32):
    %s = arith.bitcast %a : f32 to i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  kb.yield %0 : tensor<8xi32>
}
