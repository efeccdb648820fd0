// What the strategies for rows leave alone, and why.
// RUN: kb-test-strategy --mode=mismatch %s | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK: column_sum: rowwise: an input is not contiguous along the columns
// CHECK: column_sum: elementwise: an input is not contiguous along the columns
// CHECK: column_sum: columnwise: {{$}}
kb.kernel @column_sum ins(%x: tensor<8x16xf32>) outs(%y: tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<16xf32>) -> tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<8x16xf32>) outs(%0 : tensor<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<16xf32>
  kb.yield %1 : tensor<16xf32>
}

// CHECK: transpose: rowwise: an input is not contiguous along the columns
// CHECK: transpose: elementwise: an input is not contiguous along the columns
// CHECK: transpose: columnwise: it reduces nothing
// CHECK: transpose: layout: {{$}}
kb.kernel @transpose ins(%x: tensor<8x16xf32>) outs(%y: tensor<16x8xf32>) {
  %0 = linalg.transpose ins(%x : tensor<8x16xf32>) outs(%y : tensor<16x8xf32>) permutation = [1, 0]
  kb.yield %0 : tensor<16x8xf32>
}

// CHECK: truth: elementwise: a result is a matrix of truth values
// CHECK: truth: layout: a result is a matrix of truth values
kb.kernel @truth ins(%x: tensor<8x16xf32>) outs(%y: tensor<8x16xi1>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<8x16xf32>) outs(%y : tensor<8x16xi1>) {
  ^bb0(%a: f32, %o: i1):
    %1 = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %1 : i1
  } -> tensor<8x16xi1>
  kb.yield %0 : tensor<8x16xi1>
}

// CHECK: old: elementwise: the old value of a destination is read
kb.kernel @old ins(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) {
  %0 = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  kb.yield %0 : tensor<8xf32>
}

// CHECK: gather: elementwise: it gathers along the columns
// CHECK: gather: layout: {{$}}
kb.kernel @gather ins(%i: tensor<8x16xindex>, %t: tensor<99xf32>) outs(%y: tensor<8x16xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%i : tensor<8x16xindex>) outs(%y : tensor<8x16xf32>) {
  ^bb0(%a: index, %o: f32):
    %1 = tensor.extract %t[%a] : tensor<99xf32>
    linalg.yield %1 : f32
  } -> tensor<8x16xf32>
  kb.yield %0 : tensor<8x16xf32>
}

// CHECK: exact: rowwise: its numerics forbid to sum in another order
kb.kernel @exact ins(%x: tensor<8x16xf32>) outs(%y: tensor<8xf32>) attributes {numerics = #kb.numerics<reassociate = false>} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<8x16xf32>) outs(%0 : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  kb.yield %1 : tensor<8xf32>
}

// CHECK: nan: rowwise: a maximum or minimum of numbers may start from NaN
kb.kernel @nan ins(%x: tensor<8x16xf32>) outs(%y: tensor<8xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %0 = linalg.fill ins(%nan : f32) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<8x16xf32>) outs(%0 : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.maxnumf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  kb.yield %1 : tensor<8xf32>
}

// CHECK: empty: elementwise: it has no elements
kb.kernel @empty ins(%x: tensor<0x16xf32>) outs(%y: tensor<0x16xf32>) {
  %0 = linalg.negf ins(%x : tensor<0x16xf32>) outs(%y : tensor<0x16xf32>) -> tensor<0x16xf32>
  kb.yield %0 : tensor<0x16xf32>
}

// CHECK: window: rowwise: an indexing map is not a projection
kb.kernel @window ins(%x: tensor<20xf32>, %w: tensor<5xf32>) outs(%y: tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<16xf32>) -> tensor<16xf32>
  %1 = linalg.conv_1d ins(%x, %w : tensor<20xf32>, tensor<5xf32>) outs(%0 : tensor<16xf32>) -> tensor<16xf32>
  kb.yield %1 : tensor<16xf32>
}

// CHECK: dynamic: columnwise: the length of its rows is dynamic
kb.kernel @dynamic ins(%x: tensor<8x?xf32>) outs(%y: tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<8x?xf32>) outs(%0 : tensor<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  kb.yield %1 : tensor<?xf32>
}

// CHECK: negate: elementwise: {{$}}
// CHECK: negate: layout: all its rows are contiguous
kb.kernel @negate ins(%x: tensor<8x16xf32>) outs(%y: tensor<8x16xf32>) {
  %0 = linalg.negf ins(%x : tensor<8x16xf32>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  kb.yield %0 : tensor<8x16xf32>
}

// CHECK: turned: layout: the length of its rows is dynamic
kb.kernel @turned ins(%x: tensor<?x16xf32>) outs(%y: tensor<16x?xf32>) {
  %0 = linalg.transpose ins(%x : tensor<?x16xf32>) outs(%y : tensor<16x?xf32>) permutation = [1, 0]
  kb.yield %0 : tensor<16x?xf32>
}

// CHECK: joined: layout: a part of a concatenation is dynamic
kb.kernel @joined ins(%x: tensor<?x16xf32>, %z: tensor<8x16xf32>) outs(%y: tensor<?x16xf32>) {
  %0 = tensor.concat dim(0) %x, %z : (tensor<?x16xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
  kb.yield %0 : tensor<?x16xf32>
}

// CHECK: checked: layout: it asserts
kb.kernel @checked ins(%x: tensor<8x16xf32>, %i: tensor<16x8xi1>) outs(%y: tensor<16x8xf32>) {
  %0 = linalg.generic {indexing_maps = [#swap, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %i : tensor<8x16xf32>, tensor<16x8xi1>) outs(%y : tensor<16x8xf32>) {
  ^bb0(%a: f32, %c: i1, %o: f32):
    cf.assert %c, "no"
    linalg.yield %a : f32
  } -> tensor<16x8xf32>
  kb.yield %0 : tensor<16x8xf32>
}
