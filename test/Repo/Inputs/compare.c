// An entry like the one that upstream's lowering makes for a @main that doubles
// its input of ELEMENTs. WRONG and NAN_FOR_ONE spoil an element, FACTOR all of
// them, MUTATE the input, and SHORT returns an element too few.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef BF16 // the upper half of a float; C compilers lack library calls for it
#define ELEMENT uint16_t
static float load(uint16_t bits) {
  union {
    uint32_t bits;
    float value;
  } word = {(uint32_t)bits << 16};
  return word.value;
}
static uint16_t store(float value) {
  union {
    float value;
    uint32_t bits;
  } word = {value};
  return word.bits >> 16;
}
#else
#define load(value) value
#define store(value) value
#endif
#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef FACTOR
#define FACTOR 1
#endif

typedef struct {
  ELEMENT *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
} Vector;

void _mlir_ciface_main(Vector *result, Vector *input) {
  int64_t size = input->sizes[0];
  ELEMENT *out = malloc(size * sizeof(ELEMENT)), *in = input->aligned;
  for (int64_t i = 0; i < size; ++i)
    out[i] = store(2 * FACTOR * load(in[i * input->strides[0]]));
#ifdef WRONG
  out[size - 1] *= 1.01f;
#endif
#ifdef NAN_FOR_ONE
  out[1] = NAN;
#endif
#ifdef MUTATE
  in[0] += 1;
#endif
#ifdef SHORT
  size -= 1;
#endif
  Vector made = {out, out, 0, {size}, {1}};
  *result = made;
}

#ifdef MANIFEST
const char kb_manifest[] = MANIFEST;
#endif
