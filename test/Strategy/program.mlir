// What a kernel's body becomes: accesses instead of tensors, one space of axes.
// RUN: kb-test-strategy --mode=program %S/Inputs/softmax.mlir | FileCheck %s --check-prefix=SOFTMAX
// RUN: kb-test-strategy --mode=program %S/Inputs/embed-norm.mlir | FileCheck %s --check-prefix=EMBED
// RUN: kb-test-strategy --mode=program %S/Inputs/cross-entropy.mlir | FileCheck %s --check-prefix=LOSS
// RUN: kb-test-strategy --mode=program %S/Inputs/elementwise.mlir | FileCheck %s --check-prefix=CHAIN
// RUN: kb-test-strategy --mode=program %S/Inputs/softmax-dynamic.mlir | FileCheck %s --check-prefix=DYNAMIC
// RUN: kb-test-strategy --mode=program %S/Inputs/argmax.mlir | FileCheck %s --check-prefix=ARGMAX

// SOFTMAX: axes row 24 column 1024
// SOFTMAX-NEXT: [[X:%.+]] = input arg0[1024,1] : f32 matrix
// SOFTMAX: [[MAX:%.+]] = reduce maximumf [[X]] {{.*}} row
// SOFTMAX: [[D:%.+]] = arith.subf [[X]] [[MAX]] : f32 matrix
// SOFTMAX: [[E:%.+]] = math.exp [[D]]
// SOFTMAX: [[S:%.+]] = reduce addf [[E]]
// SOFTMAX: [[Y:%.+]] = arith.divf [[E]] [[S]]
// SOFTMAX: store [[Y]] to arg1[1024,1]

// A table's row is found by an index of the row; assertions come with it.
// EMBED: axes row 3 row 8 column 256
// EMBED: [[I:%.+]] = arith.index_cast {{.*}} : index row
// EMBED: input arg1[0,0,1]+?*256 [[I]] : f32 matrix
// EMBED: input arg2[0,256,1] : f32 matrix
// EMBED: assert {{.*}} "index must be smaller than dim size"

// One element of the log softmax, without the others.
// LOSS: [[L:%.+]] = arith.index_cast
// LOSS: input arg0[96,0]+?*1 [[L]] : f32 row
// LOSS-NOT: math.log {{.*}} matrix

// The middle dimension cannot be joined with its neighbours.
// CHAIN: axes row 4 row 6 column 37

// DYNAMIC: axes row 1*d0 column 1*d1
// DYNAMIC: input arg0[1*d1,1] : f32 matrix

// ARGMAX: argmax {{.*}} : i64 row
