// A host that says it is LLVM 19 and loads a plugin as mlir-opt does.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

struct PassPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerPasses)(void);
};

void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  *major = 19;
  *minor = 1;
  *patch = 7;
}

int main(int argc, char **argv) {
  void *plugin = dlopen(argv[1], RTLD_LAZY);
  if (!plugin) {
    printf("not loaded: %s\n", dlerror());
    return 2;
  }
  struct PassPluginInfo (*getInfo)(void) =
      (struct PassPluginInfo (*)(void))dlsym(plugin, "mlirGetPassPluginInfo");
  struct PassPluginInfo info = getInfo();
  printf("plugin API %u\n", info.apiVersion);
  return info.apiVersion == 1 ? 0 : 1;
}
