//===- FunctionRun.cpp - Calls of one function of programs ----------------===//

#include "FunctionRun.h"

#include "kernelbrain/Evaluate/Device/Clock.h"
#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cstring>

namespace kernelbrain::evaluate {

int64_t ProgramValue::count() const { return elementCount(shape); }

double ProgramValue::real(int64_t element) const {
  return loadFloat(stored, bytes.data(), element);
}

int64_t ProgramValue::integer(int64_t element) const {
  return loadInteger(stored, bytes.data(), element);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Status FunctionRun::createBuffers() {
  size_t count = 0;
  bool dynamicResults = false;
  for (const auto *list : {&function.arguments, &function.results})
    for (const Argument &argument : *list)
      for (int64_t extent : argument.shape)
        if (extent < 0) {
          count = std::max(count, size_t(-extent));
          dynamicResults |= list == &function.results;
        }
  dims.assign(count, request.dynamicDim);
  for (size_t k = 0; k < function.arguments.size(); ++k)
    if (!fitsDense(function.arguments[k],
                   extentsOf(function.arguments[k], dims)))
      return Error{"argument " + std::to_string(k) +
                   " is a memref that must not be dense"};
  std::vector<SlotRequest> slots;
  int64_t inputs = 0;
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    inputs += bytesOfArgument(k);
    slots.push_back({bytesOfArgument(k), 64});
  }
  for (const Argument &result : function.results)
    room += (bytesOf(result, storedType(result), dims) + 63) / 64 * 64;
  // How large a dynamic result is, only the program knows.
  if (dynamicResults)
    room = 4 * (room + inputs) + (16 << 20);
  slots.push_back({room, 64});
  Result<SharedBuffers> created = SharedBuffers::create(slots);
  if (!created)
    return created.error();
  buffers = std::move(*created);
  return {};
}

void FunctionRun::drawInputs() {
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    const Argument &argument = function.arguments[k];
    InputSet set;
    set.dims = dims;
    set.seed = request.seed;
    // Vectors are mostly norms' weights and variances.
    set.positive = argument.shape.size() == 1 || argument.isScalar;
    fillInput(set, k, argument, storedType(argument), 0,
              buffers->data(k, bytesOfArgument(k), Placement::Centered));
  }
}

std::vector<uint64_t> FunctionRun::hashInputs() {
  std::vector<uint64_t> hashes;
  for (size_t k = 0; k < function.arguments.size(); ++k)
    hashes.push_back(
        hashMemory(buffers->data(k, bytesOfArgument(k), Placement::Centered),
                   bytesOfArgument(k)));
  return hashes;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Json FunctionRun::describeCall() const {
  Json arguments = Json::array(), results = Json::array();
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    const Argument &argument = function.arguments[k];
    int64_t bytes = bytesOfArgument(k);
    if (!argument.isScalar) {
      arguments.push_back(
          {{"offset", buffers->offsetOf(k, bytes, Placement::Centered)},
           {"shape", extentsOf(argument, dims)}});
      continue;
    }
    int64_t bits = 0;
    std::memcpy(&bits, buffers->data(k, bytes, Placement::Centered),
                size_t(bytes));
    // Integers are passed sign-extended, which also fits narrower parameters.
    if (!isFloat(argument.type))
      bits = loadInteger(argument.type, &bits, 0);
    arguments.push_back(
        {{"scalar", true}, {"float", isFloat(argument.type)}, {"bits", bits}});
  }
  for (const Argument &result : function.results)
    results.push_back({{"scalar", result.isScalar},
                       {"float", isFloat(result.type)},
                       {"element_bytes", byteSize(storedType(result))},
                       {"rank", result.shape.size()}});
  return {{"function", function.name},
          {"arguments", arguments},
          {"results", results},
          {"area", buffers->offsetOf(function.arguments.size(), room,
                                     Placement::Centered)},
          {"room", room}};
}

Outcome FunctionRun::takeResults(const Json &reply, CallValues &values) {
  Outcome malformed = {Disposition::Crashed, "the runner's reply is malformed"};
  Result<Json> list = getArray(reply, "results");
  if (!list || list->size() != function.results.size())
    return malformed;
  size_t slot = function.arguments.size();
  const char *area = buffers->data(slot, room, Placement::Centered);
  int64_t base = buffers->offsetOf(slot, room, Placement::Centered);
  for (size_t k = 0; k < list->size(); ++k) {
    const Json &json = (*list)[k];
    const Argument &result = function.results[k];
    ProgramValue value;
    value.name = "result " + std::to_string(k);
    value.type = result.type;
    value.stored = storedType(result);
    int64_t bytes = byteSize(value.stored);
    Result<Json> shape = getArray(json, "shape");
    if (!shape || shape->size() != result.shape.size())
      return malformed;
    for (const Json &extent : *shape) {
      if (!extent.is_number_integer() || extent.get<int64_t>() < 0 ||
          __builtin_mul_overflow(bytes, extent.get<int64_t>(), &bytes))
        return malformed;
      value.shape.push_back(extent.get<int64_t>());
    }
    int64_t offset = getIntegerOr(json, "offset", -1) - base;
    if (offset < 0 || bytes > room || offset > room - bytes)
      return malformed;
    value.bytes.assign(area + offset, size_t(bytes));
    values.values.push_back(std::move(value));
  }
  return {};
}

Outcome FunctionRun::start(const std::vector<std::string> &paths,
                           std::optional<RunnerProcess> &runner) {
  Result<RunnerProcess> started = RunnerProcess::start(
      options.runner, *buffers, paths, /*allowFork=*/false);
  if (!started)
    return Outcome::fault(started.error());
  runner = std::move(*started);
  Manifest manifest;
  for (size_t slot = 0; slot < paths.size(); ++slot)
    if (Outcome loaded = runner->load(int(slot), paths[slot], manifest);
        !loaded)
      return loaded;
  drawInputs();
  return {};
}

Outcome FunctionRun::callOnce(const std::string &path, int64_t deadlineMs,
                              CallValues &values) {
  std::optional<RunnerProcess> runner;
  if (Outcome started = start({path}, runner); !started)
    return started;
  std::vector<uint64_t> drawn = hashInputs();
  Json request = describeCall(), reply;
  request["type"] = "call";
  request["slot"] = 0;
  int64_t begin = nowNs();
  if (Outcome called = runner->ask(request, deadlineMs, reply); !called)
    return called;
  values.ns = nowNs() - begin;
  if (Outcome taken = takeResults(reply, values); !taken)
    return taken;
  std::vector<uint64_t> left = hashInputs();
  for (size_t k = 0; k < left.size(); ++k) {
    if (left[k] == drawn[k])
      continue;
    const Argument &argument = function.arguments[k];
    values.values.push_back(
        {"argument " + std::to_string(k), argument.type, storedType(argument),
         extentsOf(argument, dims),
         std::string(buffers->data(k, bytesOfArgument(k), Placement::Centered),
                     size_t(bytesOfArgument(k))),
         /*mayStay=*/!argument.isMemref});
  }
  return {};
}

} // namespace kernelbrain::evaluate
