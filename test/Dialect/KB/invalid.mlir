// RUN: kb-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'kb.kernel' op expected ranked tensor arguments, found 'f32'}}
kb.kernel @k ins(%x: f32) outs() {
}

// -----
// expected-error @+1 {{'kb.kernel' op expected ranked tensor arguments, found 'tensor<*xf32>'}}
kb.kernel @k ins(%x: tensor<*xf32>) outs() {
}

// -----
// expected-error @+1 {{'kb.kernel' op expected 1 'arg_specs', found 2}}
kb.kernel @k ins(%x: tensor<4xf32>) outs() attributes {arg_specs = [unit, unit]} {
}

// -----
// expected-error @+1 {{'kb.kernel' op expected '#kb.arg' or unit in 'arg_specs', found 1 : i64}}
kb.kernel @k ins(%x: tensor<4xf32>) outs() attributes {arg_specs = [1]} {
}

// -----
// expected-error @+1 {{'kb.kernel' op expected 'share' between 0 and 1000, found 1001}}
kb.kernel @k ins() outs() attributes {share = 1001 : i64} {
}

// -----
// expected-error @+1 {{'kb.kernel' op expected 'num_inputs' between 0 and 1, found 2}}
"kb.kernel"() ({
^bb0(%x: tensor<4xf32>):
  "kb.yield"() : () -> ()
}) {sym_name = "k", num_inputs = 2 : i64} : () -> ()

// -----
// expected-note @+1 {{kernel is here}}
kb.kernel @k ins(%x: tensor<4xf32>) outs(%o: tensor<8xf32>) {
  // expected-error @+1 {{'kb.yield' op expected the types of the destinations ('tensor<8xf32>'), found ('tensor<4xf32>')}}
  kb.yield %x : tensor<4xf32>
}

// -----
// A yield that is left out returns nothing.
// expected-note @+2 {{kernel is here}}
// expected-error @+1 {{'kb.yield' op expected the types of the destinations ('tensor<8xf32>'), found ()}}
kb.kernel @k ins() outs(%o: tensor<8xf32>) {
}

// -----
func.func @f() {
  // expected-error @+1 {{'kb.yield' op expects parent op 'kb.kernel'}}
  kb.yield
}

// -----
func.func @f(%x: tensor<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{'kb.call' op expected tensor or buffer destinations, found both}}
  %r = kb.call @k ins() outs(%x, %y : tensor<4xf32>, memref<4xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'kb.call' op expected 1 results, found 0}}
  kb.call @k ins() outs(%x : tensor<4xf32>)
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'kb.call' op expected a result of type 'tensor<4xf32>', found 'tensor<8xf32>'}}
  %r = kb.call @k ins() outs(%x : tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'kb.call' op expected 1 'reads_outputs', found 2}}
  %r = kb.call @k ins() outs(%x : tensor<4xf32>) {reads_outputs = array<i1: true, false>} -> tensor<4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'kb.call' op references unknown kernel '@kb.kernels::@k'}}
  %r = kb.call @kb.kernels::@k ins() outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
module @k {}
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'kb.call' op '@k' is no kernel}}
  %r = kb.call @k ins() outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'kb.call' op operand types differ from the arguments of kernel '@k'}}
  %r = kb.call @k ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}
// expected-note @+1 {{kernel is here}}
kb.kernel @k ins() outs(%o: tensor<4xf32>) {
  kb.yield %o : tensor<4xf32>
}

// -----
// expected-error @+1 {{'kb.variant' op references unknown kernel 'k'}}
kb.variant @k attributes {recipe = "{}"} {}

// -----
kb.kernel @k ins() outs() {
}
// expected-error @+1 {{'kb.variant' op expected an implementation in a selected variant}}
kb.variant @k attributes {recipe = "{}", selected} {}

// -----
kb.kernel @k ins() outs() {
}
// expected-note @+1 {{the first one is here}}
kb.variant @k attributes {recipe = "{}", selected} {
  llvm.func @k()
}
// expected-error @+1 {{'kb.variant' op is a second selected variant of kernel 'k'}}
kb.variant @k attributes {recipe = "{}", selected} {
  llvm.func @k()
}

// -----
kb.kernel @k ins() outs() {
}
// expected-error @+1 {{'kb.variant' op expected functions and globals of the LLVM dialect, and at most one 'gpu.binary', in the implementation}}
kb.variant @k attributes {recipe = "{}", selected} {
  // expected-note @+1 {{found 'func.func'}}
  func.func private @k()
}

// -----
kb.kernel @k ins() outs() {
}
// expected-error @+1 {{at most one 'gpu.binary'}}
kb.variant @k attributes {recipe = "{}", selected} {
  llvm.func @k()
  gpu.binary @first [#gpu.object<#nvvm.target, "">]
  // expected-note @+1 {{found 'gpu.binary'}}
  gpu.binary @second [#gpu.object<#nvvm.target, "">]
}
