//===- RunnerPrograms.cpp - Calling functions of programs -----------------===//

#include "RunnerCalls.h"

#include <cstdlib>
#include <cstring>
#include <set>

namespace kernelbrain::evaluate {

/// Most words and floating-point scalars of one call.
static constexpr size_t maxWords = 48, maxFloats = 8;

static Error malformed(const char *what) {
  return Error{std::string("malformed call: ") + what};
}

void ProgramCall::addResult(const Value &result) {
  Value value = result;
  size_t size =
      value.isScalar ? value.elementBytes : 8 * (3 + 2 * size_t(value.rank));
  size_t alignment = value.isScalar ? value.elementBytes : 8;
  value.at = (resultStruct.size() + alignment - 1) / alignment * alignment;
  resultStruct.resize(value.at + size);
  results.push_back(value);
}

Result<ProgramCall> ProgramCall::create(const Json &request, void *address,
                                        char *base, int64_t bytes) {
  ProgramCall call;
  call.address = address;
  call.begin = base;
  call.end = base + bytes;
  Result<Json> arguments = getArray(request, "arguments");
  Result<Json> results = getArray(request, "results");
  if (!arguments || !results)
    return malformed("arguments or results are missing");
  for (const Json &json : *results) {
    Value value;
    value.isScalar = getBoolOr(json, "scalar", false);
    value.isFloat = getBoolOr(json, "float", false);
    value.elementBytes = getIntegerOr(json, "element_bytes", 8);
    value.rank = getIntegerOr(json, "rank", 0);
    call.addResult(value);
  }
  // One scalar comes back in a register; anything else through a struct.
  call.returnsScalar = call.results.size() == 1 && call.results[0].isScalar;
  if (!call.results.empty() && !call.returnsScalar)
    call.words.push_back(0);
  for (const Json &json : *arguments) {
    if (getBoolOr(json, "scalar", false)) {
      int64_t bits = getIntegerOr(json, "bits", 0);
      double real;
      std::memcpy(&real, &bits, sizeof real);
      if (getBoolOr(json, "float", false))
        call.floats.push_back(real);
      else
        call.words.push_back(bits);
      continue;
    }
    call.descriptorWords.push_back(call.words.size());
    call.words.push_back(int64_t(call.descriptors.size()));
    auto data =
        reinterpret_cast<int64_t>(base + getIntegerOr(json, "offset", 0));
    std::vector<int64_t> shape = json["shape"].get<std::vector<int64_t>>();
    call.descriptors.insert(call.descriptors.end(), {data, data, 0});
    call.descriptors.insert(call.descriptors.end(), shape.begin(), shape.end());
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t k = shape.size(); k > 1; --k)
      strides[k - 2] = strides[k - 1] * shape[k - 1];
    call.descriptors.insert(call.descriptors.end(), strides.begin(),
                            strides.end());
  }
  if (call.words.size() > maxWords || call.floats.size() > maxFloats)
    return malformed("too many arguments");
  return call;
}

/// Integers and pointers have registers of their own, floating-point values
/// others, and words beyond the registers follow each other on the stack: so
/// one call with all of them, in this order, reaches every signature; a callee
/// does not look at what it does not expect. Holds for the System V ABI of
/// x86-64 and for AArch64.
template <typename R>
static R callWith(void *address, const double *f, const int64_t *w) {
  using Function = R (*)(
      double, double, double, double, double, double, double, double, int64_t,
      int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
      int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
      int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
      int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
      int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
      int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
  return reinterpret_cast<Function>(address)(
      f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], w[0], w[1], w[2], w[3],
      w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
      w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23], w[24],
      w[25], w[26], w[27], w[28], w[29], w[30], w[31], w[32], w[33], w[34],
      w[35], w[36], w[37], w[38], w[39], w[40], w[41], w[42], w[43], w[44],
      w[45], w[46], w[47]);
}

int32_t ProgramCall::call(bool keep) {
  double f[maxFloats] = {};
  int64_t w[maxWords] = {};
  std::copy(floats.begin(), floats.end(), f);
  std::copy(words.begin(), words.end(), w);
  for (size_t k : descriptorWords)
    w[k] = reinterpret_cast<int64_t>(descriptors.data() + words[k]);
  if (returnsScalar && results[0].isFloat) {
    double value = callWith<double>(address, f, w);
    std::memcpy(resultStruct.data(), &value, resultStruct.size());
  } else if (returnsScalar) {
    int64_t value = callWith<int64_t>(address, f, w);
    std::memcpy(resultStruct.data(), &value, resultStruct.size());
  } else {
    if (!results.empty())
      w[0] = reinterpret_cast<int64_t>(resultStruct.data());
    callWith<void>(address, f, w);
  }
  if (!keep)
    releaseResults();
  return 0;
}

void ProgramCall::releaseResults() {
  std::set<void *> allocated;
  for (const Value &result : results) {
    if (result.isScalar)
      continue;
    void *pointer;
    std::memcpy(&pointer, resultStruct.data() + result.at, sizeof pointer);
    // A result may be an argument, or share its buffer with another result.
    if (pointer && (pointer < begin || pointer >= end))
      allocated.insert(pointer);
  }
  for (void *pointer : allocated)
    std::free(pointer);
}

/// Copies a strided tensor densely, in row-major order.
static void copyDense(const char *from, char *to, const int64_t *shape,
                      const int64_t *strides, int64_t rank, int64_t bytes) {
  if (rank == 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  int64_t inner = bytes;
  for (int64_t k = 1; k < rank; ++k)
    inner *= shape[k];
  if (rank == 1 && strides[0] == 1) {
    std::memcpy(to, from, shape[0] * bytes);
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i)
    copyDense(from + i * strides[0] * bytes, to + i * inner, shape + 1,
              strides + 1, rank - 1, bytes);
}

Result<Json> ProgramCall::takeResults(char *base, int64_t area, int64_t room) {
  Json described = Json::array();
  int64_t at = area;
  for (const Value &result : results) {
    std::vector<int64_t> words(3 + 2 * result.rank);
    Json shape = Json::array();
    int64_t bytes = result.elementBytes;
    if (!result.isScalar) {
      std::memcpy(words.data(), resultStruct.data() + result.at,
                  8 * words.size());
      for (int64_t k = 0; k < result.rank; ++k) {
        shape.push_back(words[3 + k]);
        if (words[3 + k] < 0 ||
            __builtin_mul_overflow(bytes, words[3 + k], &bytes))
          return malformed("a result has an impossible shape");
      }
    }
    if (bytes > area + room - at)
      return malformed("the results do not fit the shared buffers");
    if (result.isScalar)
      std::memcpy(base + at, resultStruct.data() + result.at, bytes);
    else if (bytes > 0)
      copyDense(reinterpret_cast<char *>(words[1]) +
                    words[2] * result.elementBytes,
                base + at, words.data() + 3, words.data() + 3 + result.rank,
                result.rank, result.elementBytes);
    described.push_back({{"offset", at}, {"bytes", bytes}, {"shape", shape}});
    at += (bytes + 63) / 64 * 64;
  }
  releaseResults();
  return described;
}

} // namespace kernelbrain::evaluate
