// Modules in the module need no name to be told of.
// RUN: kb-opt %s --kb-outline -o /dev/null 2>&1 | FileCheck %s
// RUN: kb-opt %s --kb-optimize="target=cuda chip=sm_90a estimate" -o /dev/null 2>&1 | FileCheck %s

module {
  module {
  }
  module {
    // CHECK: :[[#@LINE+1]]:5: remark: stays as it is: it is in a nested module
    func.func @f(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %0 = tosa.exp %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
      return %0 : tensor<8x16xf32>
    }
  }
}
