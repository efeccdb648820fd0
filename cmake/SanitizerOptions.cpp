//===- SanitizerOptions.cpp - Defaults of the sanitizers ------------------===//

/// LLVM's allocators poison what they have not handed out, in code that is
/// built with AddressSanitizer only. The libraries of LLVM and MLIR are not:
/// they would take memory from an allocator of ours without telling.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

/// A test must fail for what is only printed by default.
extern "C" const char *__ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}
