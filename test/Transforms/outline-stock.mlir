// RUN: kb-opt %s --kb-outline -allow-unregistered-dialect -verify-diagnostics | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// What no kernel can hold stays, and a remark says why.
// CHECK-NOT: kb.call

func.func @no_elements(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %e = tensor.empty() : tensor<0x4xf32>
  // expected-remark @+1 {{stays as it is: holds a tensor without elements}}
  %r = linalg.exp ins(%x : tensor<0x4xf32>) outs(%e : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %r : tensor<0x4xf32>
}
func.func @odd_type(%x: tensor<4xi7>) -> tensor<4xi7> {
  %e = tensor.empty() : tensor<4xi7>
  // expected-remark @+1 {{stays as it is: holds elements of type i7}}
  %r = linalg.add ins(%x, %x : tensor<4xi7>, tensor<4xi7>) outs(%e : tensor<4xi7>) -> tensor<4xi7>
  return %r : tensor<4xi7>
}
func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  // expected-remark @+1 {{stays as it is: holds 'complex.add', which a kernel may not hold}}
  %r = linalg.add ins(%x, %x : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) outs(%e : tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}
func.func @unregistered(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-remark @+1 {{stays as it is: holds 'other.op', which a kernel may not hold}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = "other.op"(%a) : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  // expected-remark @+1 {{stays as it is: holds 'other.tensor_op', which a kernel may not hold}}
  %t = "other.tensor_op"(%r) : (tensor<4xf32>) -> tensor<4xf32>
  return %t : tensor<4xf32>
}
func.func @scalar(%x: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-remark @+1 {{stays as it is: captures a scalar that is not a constant}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark @+1 {{stays as it is: holds 'func.call', which a kernel may not hold}}
  %r = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @unranked(%x: tensor<*xf32>) -> tensor<4xf32> {
  // expected-remark @+1 {{stays as it is: holds an unranked tensor}}
  %r = tensor.cast %x : tensor<*xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @encoded(%x: tensor<4xf32, "layout">) -> tensor<4xf32, "layout"> {
  %e = tensor.empty() : tensor<4xf32, "layout">
  // expected-remark @+1 {{stays as it is: holds a tensor with the encoding "layout"}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32, "layout">) outs(%e : tensor<4xf32, "layout">) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32, "layout">
  return %r : tensor<4xf32, "layout">
}
func.func @pads(%x: tensor<4xf32>, %n: index, %f: f32) -> tensor<8xf32> {
  // expected-remark @+1 {{stays as it is: pads by amounts or values that are not constants}}
  %r = tensor.pad %x low[0] high[4] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @generates(%n: index) -> tensor<?xindex> {
  // expected-remark @+1 {{stays as it is: is an operation that no kernel is cut from}}
  %r = tensor.generate %n {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xindex>
  return %r : tensor<?xindex>
}
func.func @unknown_extent(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-remark @+1 {{stays as it is: the region has a result whose extent is not known before it runs}}
  %r = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @computed_scalar(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.extract %x[%c0, %c0] : tensor<4x8xf32>
  // expected-remark @+1 {{stays as it is: captures a scalar that is not a constant}}
  %r = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// expected-remark @+1 {{stays as it is: the region holds 'func.call', which a kernel may not hold}}
func.func @whole(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kb.kernel} {
  %r = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// expected-remark @+1 {{stays as it is: the region has several blocks}}
func.func @whole_blocks(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kb.kernel} {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
func.func @whole_scalar(%x: tensor<4xf32>, %f: f32) -> tensor<4xf32> attributes {kb.kernel} {
  %e = tensor.empty() : tensor<4xf32>
  // expected-remark @+1 {{stays as it is: the region captures a scalar that is not a constant}}
  %r = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// No remarks, nothing done: skipped, on buffers, nothing to do.
func.func @skipped(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kb.skip} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @buffers(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
