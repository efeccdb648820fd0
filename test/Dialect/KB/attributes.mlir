// RUN: kb-opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics

// Legal forms of the discardable attributes.
module attributes {kb.numerics = #kb.numerics<>} {
  func.func private @f() attributes {a = #kb.arg<>, b = #kb.budget<>, c = #kb.provenance<proposer = "x">}
}

// -----
// expected-error @+1 {{expected 'alignment' to be a power of two, found 48}}
"test.op"() {a = #kb.arg<alignment = 48>} : () -> ()

// -----
// expected-error @+1 {{expected 'alignment' to be a power of two, found 0}}
"test.op"() {a = #kb.arg<alignment = 0>} : () -> ()

// -----
// expected-error @+1 {{expected an integer or float bound, found dense<1> : tensor<1xi64>}}
"test.op"() {a = #kb.arg<low = dense<1> : tensor<1xi64>>} : () -> ()

// -----
// expected-error @+1 {{expected 'low' and 'high' of one type, found 'i64' and 'i32'}}
"test.op"() {a = #kb.arg<low = 0 : i64, high = 1 : i32>} : () -> ()

// -----
// expected-error @+1 {{expected 'low' not above 'high', found 2 : i64 and 1 : i64}}
"test.op"() {a = #kb.arg<low = 2 : i64, high = 1 : i64>} : () -> ()

// -----
// expected-error @+1 {{expected 'low' not above 'high', found 2.000000e+00 : f32 and 1.000000e+00 : f32}}
"test.op"() {a = #kb.arg<low = 2.0 : f32, high = 1.0 : f32>} : () -> ()

// -----
// expected-error @+1 {{expected positive 'dim_hints', found 0}}
"test.op"() {a = #kb.arg<dim_hints = [8, 0]>} : () -> ()

// -----
// expected-error @+1 {{expected limits that are not negative}}
"test.op"() {a = #kb.budget<seconds = -1>} : () -> ()

// -----
// expected-error @+1 {{unknown disposition 'perfect'}}
"test.op"() {a = #kb.measurement<disposition = "perfect">} : () -> ()

// -----
// expected-error @+1 {{expected times that are not negative}}
"test.op"() {a = #kb.measurement<disposition = "passed", time_ns = -1>} : () -> ()

// -----
// expected-error @+1 {{expected 'speedup' inside its interval, found 2000, 1500, 3000}}
"test.op"() {a = #kb.measurement<disposition = "passed", speedup_low = 2000, speedup = 1500, speedup_high = 3000>} : () -> ()
