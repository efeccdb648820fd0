//===- NoDriver.cpp - The runtime where there is no driver ----------------===//

#include "kernelbrain/Runtime/CudaRuntime.h"

#include <cstdio>

int main() {
  kbcuModule module = {"image", nullptr};
  kbcuKernel kernel = {&module, "k", nullptr, 0};
  kbcuShape shape = {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0};
  int32_t status = kbcuLaunch(&kernel, &shape, nullptr, nullptr);
  printf("%d: %s\n", status, kbcuMessage(status));
  return 0;
}
