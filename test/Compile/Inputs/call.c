// Loads an artifact of the kernel `softmax` and calls it by its entry and by
// kb_invoke.
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 64, columns = 128 };
static float x[rows * columns], y[rows * columns];
static char workspace[1 << 20] __attribute__((aligned(64)));

static double largestError(void) {
  double largest = 0;
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j)
      sum += exp((double)x[i * columns + j]);
    for (int j = 0; j < columns; ++j) {
      double error =
          fabs(exp((double)x[i * columns + j]) / sum - y[i * columns + j]);
      if (!(error <= largest))
        largest = error;
    }
  }
  return largest;
}

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fprintf(stderr, "%s\n", dlerror()), 1;
  int32_t (*entry)(const void *, void *, void *, void *) =
      dlsym(library, "softmax");
  int32_t (*invoke)(void **) = dlsym(library, "kb_invoke");
  const char *manifest = dlsym(library, "kb_manifest");
  if (!entry || !invoke || !manifest)
    return fprintf(stderr, "missing symbol\n"), 1;
  for (int i = 0; i < rows * columns; ++i)
    x[i] = (float)(rand() % 1000) / 500 - 1;
  int status = entry(x, y, workspace, 0);
  printf("entry: %d %s\n", status, largestError() < 1e-6 ? "right" : "wrong");
  for (int i = 0; i < rows * columns; ++i)
    y[i] = NAN;
  void *words[] = {x, y, workspace, 0};
  status = invoke(words);
  printf("invoke: %d %s\n", status, largestError() < 1e-6 ? "right" : "wrong");
  printf("%s\n", manifest);
  return 0;
}
