// RUN: mlir-opt %s | diff %S/Inputs/tuning-spec-printed.mlir -
// RUN: kb-opt %s -o %t && diff %S/Inputs/tuning-spec-printed.mlir %t

// Tuned by KernelBrain. Read by kb-apply; entries may be removed by hand.
module @kb.tuning_spec attributes {kb.spec_version = 1 : i64} {
  module @entry_0 attributes {kb.entry = {
    abi_version = 1 : i64,
    baseline = "stock-fused",
    code_hash = "c0de",
    created_s = 1700000000 : i64,
    kernel_hash = "4f2a",
    measurement = {
      cost_ns = 0 : i64,
      details = {},
      disposition = "passed",
      error = 0.1 : f64,
      page_faults = 0 : i64,
      reason = "",
      rung = 6 : i64,
      speedup = {
        high = 2.435 : f64,
        low = 2.185 : f64,
        middle = 2.31 : f64
      },
      time_ns = 5310 : i64
    },
    numerics = "{\22contract\22:true}",
    placement = "host",
    proof = {
      big = 18446744073709551615 : ui64,
      empty = {},
      huge = 1.0e+300 : f64,
      list = [1 : i64, "a", {
        b = 2.5 : f64
      }],
      none = [],
      nothing = unit,
      "odd key" = 1 : i64,
      small = -9223372036854775808 : i64,
      tenth = 0.1 : f64,
      third = 0.3333333333333333 : f64,
      "true" = false,
      whole = 1.0 : f64
    },
    proven = true,
    recipe = {
      knobs = {
        exp = "fast",
        unroll = 4 : i64
      },
      payload = "kb.kernel @k {\0A\09\22x\\y\22 // \C3\A9\0A}",
      strategy = "row-reduction",
      strategy_hash = "v1"
    },
    run_hash = "run",
    shape_bucket = "static",
    strategy_library = "lib",
    target = "host;znver4;+avx2",
    threads = 1 : i64
  }} {
  }
  module @entry_1 attributes {kb.entry = {
    abi_version = 1 : i64,
    baseline = "stock-fused",
    code_hash = "c0de",
    created_s = 1700000000 : i64,
    kernel_hash = "77c0",
    measurement = {
      cost_ns = 0 : i64,
      details = {},
      disposition = "passed",
      error = 0.1 : f64,
      page_faults = 0 : i64,
      reason = "",
      rung = 6 : i64,
      speedup = {
        high = 1.225 : f64,
        low = 0.975 : f64,
        middle = 1.1 : f64
      },
      time_ns = 5310 : i64
    },
    numerics = "{\22contract\22:true}",
    placement = "host",
    proof = {
      seeds = [1 : i64, 2 : i64],
      sets = 9 : i64
    },
    proven = false,
    recipe = {
      knobs = {
        exp = "fast",
        unroll = 1 : i64
      },
      payload = "",
      strategy = "row-reduction",
      strategy_hash = "v1"
    },
    run_hash = "run",
    shape_bucket = "static",
    strategy_library = "lib",
    target = "host;znver4;+avx2",
    threads = 1 : i64
  }} {
  }
}
