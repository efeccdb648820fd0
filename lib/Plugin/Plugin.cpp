//===- Plugin.cpp - The entry points of KernelBrainPlugin.so --------------===//
//
// The door that stock mlir-opt opens, as a dialect plugin, a pass plugin, or
// both. It uses no symbol of MLIR or LLVM, so that it loads into any host, and
// opens KernelBrainPasses.so beside it only after the host has turned out to be
// of the LLVM version that this was built for.
//
// The host's signal handlers stay as they are: what an interrupted search has
// journaled is kept, and its output is not written.
//
//===----------------------------------------------------------------------===//

#include "llvm/Config/llvm-config.h"

#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace {

// The layouts of MLIR_PLUGIN_API_VERSION 1, whose headers pull in all of MLIR.
constexpr uint32_t pluginApiVersion = 1;
struct PassPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerPasses)();
};
struct DialectPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerDialects)(mlir::DialectRegistry *);
};

/// Empty if the host is of our LLVM version, else what it is.
std::string hostMismatch() {
  using GetVersion = void (*)(unsigned *, unsigned *, unsigned *);
  auto getVersion =
      reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  if (!getVersion)
    return "a program without a shared libLLVM";
  unsigned major = 0, minor = 0, patch = 0;
  getVersion(&major, &minor, &patch);
  if (major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR)
    return "";
  return "LLVM " + std::to_string(major) + "." + std::to_string(minor);
}

/// Opens KernelBrainPasses.so beside this object; null, with a message, if the
/// host is of another version or the library is missing.
void *openPasses() {
  if (std::string mismatch = hostMismatch(); !mismatch.empty()) {
    fprintf(stderr,
            "error: KernelBrainPlugin is built for LLVM %d.%d and cannot be "
            "loaded into %s\n",
            LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, mismatch.c_str());
    return nullptr;
  }
  static int anchor;
  Dl_info self;
  std::string folder = ".";
  if (dladdr(&anchor, &self) && self.dli_fname)
    if (std::string path = self.dli_fname; path.find('/') != path.npos)
      folder = path.substr(0, path.rfind('/'));
  void *library =
      dlopen((folder + "/KernelBrainPasses.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fprintf(stderr, "error: cannot load the passes of KernelBrain: %s\n",
            dlerror());
  return library;
}

} // namespace

#define KB_EXPORT extern "C" __attribute__((visibility("default")))

KB_EXPORT DialectPluginInfo mlirGetDialectPluginInfo() {
  void *library = openPasses();
  if (!library)
    return {0, "KernelBrain", LLVM_VERSION_STRING, nullptr};
  return {pluginApiVersion, "KernelBrain", LLVM_VERSION_STRING,
          reinterpret_cast<void (*)(mlir::DialectRegistry *)>(
              dlsym(library, "kbPluginRegisterDialects"))};
}

KB_EXPORT PassPluginInfo mlirGetPassPluginInfo() {
  void *library = openPasses();
  if (!library)
    return {0, "KernelBrain", LLVM_VERSION_STRING, nullptr};
  return {
      pluginApiVersion, "KernelBrain", LLVM_VERSION_STRING,
      reinterpret_cast<void (*)()>(dlsym(library, "kbPluginRegisterPasses"))};
}
