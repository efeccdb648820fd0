//===- kernelbrain.cpp - kb-opt and kb-compile in one file ----------------===//
//
// For machines without LLVM: both tools with all of MLIR linked in once. Which
// one it is follows from the name that it is called by, or from the first word:
// `kernelbrain kb-opt ...`.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

#include <cstdio>
#include <cstring>

/// LLVM's archives refer to Polly, which is packaged as a plugin alone.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "none", [](llvm::PassBuilder &) {}};
}

// The mains of the tools, renamed by the build.
int kbOptMain(int argc, char **argv);
int kbCompileMain(int argc, char **argv);

static const char *baseName(const char *path) {
  const char *slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int main(int argc, char **argv) {
  if (argc > 1 && !std::strcmp(baseName(argv[0]), "kernelbrain")) {
    ++argv;
    --argc;
  }
  const char *name = argc ? baseName(argv[0]) : "";
  if (!std::strcmp(name, "kb-opt"))
    return kbOptMain(argc, argv);
  if (!std::strcmp(name, "kb-compile"))
    return kbCompileMain(argc, argv);
  std::fprintf(stderr, "kernelbrain: error: call it as kb-opt or kb-compile\n");
  return 2;
}
