//===- ProgramCheck.cpp - Builds and runs whole programs ------------------===//

#include "ProgramCheck.h"

#include "kernelbrain/Support/Subprocess.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace kernelbrain;

/// A program that takes longer to compile than this is given up.
constexpr int compileDeadlineMilliseconds = 300000;

Result<std::unique_ptr<ProgramCheck>>
ProgramCheck::start(const SessionOptions &options, const Target &target,
                    const std::string &baseline) {
  std::unique_ptr<ProgramCheck> check(new ProgramCheck());
  check->options = options;
  auto compiler = findProgram("kb-compile", options.kbCompile, "KB_COMPILE");
  if (!compiler)
    return compiler.error();
  check->compiler = *compiler;
  auto worker = findProgram("kb-worker", options.kbWorker, "KB_WORKER");
  if (!worker)
    return worker.error();
  check->worker =
      std::make_unique<evaluate::Worker>(evaluate::WorkerOptions{*worker, {}});
  std::error_code failure;
  std::string pattern =
      (std::filesystem::temp_directory_path(failure) / "kernelbrain-XXXXXX")
          .string();
  if (failure || !mkdtemp(pattern.data()))
    return Error{"cannot make a temporary folder '" + pattern + "'"};
  check->folder = pattern;
  auto object = check->build("baseline", baseline);
  if (!object)
    return object.error().withContext("cannot build the baseline program");
  check->baselineObject = *object;
  return check;
}

ProgramCheck::~ProgramCheck() {
  std::error_code ignored; // Of a temporary folder that may be gone already.
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

Result<std::string> ProgramCheck::build(const std::string &name,
                                        const std::string &module) {
  std::string source = folder + "/" + name + ".mlir";
  std::string object = folder + "/" + name + ".so";
  std::ofstream file(source, std::ios::binary);
  file << module;
  file.close();
  if (!file)
    return Error{"cannot write '" + source + "'"};
  SubprocessOptions command;
  command.arguments = {compiler, source, "-o", object};
  if (!options.chip.empty())
    command.arguments.push_back("--target-cpu=" + options.chip);
  auto child = Subprocess::start(command);
  if (!child)
    return child.error();
  child->closeInput();
  std::optional<std::string> end = child->wait(compileDeadlineMilliseconds);
  if (!end)
    return Error{"kb-compile took longer than " +
                 std::to_string(compileDeadlineMilliseconds / 1000) + " s"};
  if (!end->empty())
    return Error{"kb-compile ended with " + *end};
  return object;
}

Result<std::vector<FunctionVerdict>>
ProgramCheck::compare(const std::string &program) {
  auto object = build("program" + std::to_string(++built), program);
  if (!object)
    return object.error().withContext("cannot build the optimised program");
  evaluate::ProgramRequest request;
  request.baseline = baselineObject;
  request.candidate = *object;
  request.seed = options.seed;
  request.dynamicDim = options.dynamicDim;
  auto reply = worker->comparePrograms(request);
  if (!reply)
    return reply.error();
  return reply->functions;
}
