//===- ProgramCheck.cpp - Builds and runs whole programs ------------------===//

#include "ProgramCheck.h"

#include "Workbenches.h"

#include "kernelbrain/Support/File.h"
#include "kernelbrain/Support/Subprocess.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

using namespace kernelbrain;

/// A program that takes longer to compile than this is given up.
constexpr int compileDeadlineMilliseconds = 300000, pollMilliseconds = 100;

Result<std::unique_ptr<ProgramCheck>>
ProgramCheck::start(const SessionOptions &options, const std::string &parent,
                    std::function<bool()> isCancelled) {
  std::unique_ptr<ProgramCheck> check(new ProgramCheck());
  check->options = options;
  auto compiler = findProgram("kb-compile", options.kbCompile, "KB_COMPILE");
  if (!compiler)
    return compiler.error();
  check->compiler = *compiler;
  auto worker = findProgram("kb-worker", options.kbWorker, "KB_WORKER");
  if (!worker)
    return worker.error();
  evaluate::WorkerOptions workerOptions = makeWorkerOptions(options, *worker);
  workerOptions.isCancelled = isCancelled;
  check->worker = std::make_unique<evaluate::Worker>(std::move(workerOptions));
  check->isCancelled = std::move(isCancelled);
  std::string pattern = parent + "/program-XXXXXX";
  if (!mkdtemp(pattern.data()))
    return fileError("make the temporary folder", pattern);
  check->folder = pattern;
  return check;
}

Result<std::string> ProgramCheck::setBaseline(const std::string &program) {
  std::string why;
  auto object = build("baseline", program, {}, why);
  if (!object)
    return object.error();
  baselineObject = *object;
  baselineProgram = program;
  return why;
}

ProgramCheck::~ProgramCheck() {
  std::error_code ignored; // Of a temporary folder that may be gone already.
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

Result<std::string> ProgramCheck::build(const std::string &name,
                                        const std::string &module,
                                        const std::vector<std::string> &flags,
                                        std::string &why) {
  std::string source = folder + "/" + name + ".mlir";
  std::string object = folder + "/" + name + ".so";
  std::ofstream file(source, std::ios::binary);
  file << module;
  file.close();
  if (!file)
    return fileError("write", source);
  SubprocessOptions command;
  command.arguments = {compiler, source, "-o", object};
  if (!options.chip.empty() && !options.isCuda())
    command.arguments.push_back("--target-cpu=" + options.chip);
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  // What has no reference is the user's program as it should be.
  command.inheritStderr = flags.empty();
  auto child = Subprocess::start(command);
  if (!child)
    return child.error();
  child->closeInput();
  std::optional<std::string> end;
  for (int waited = 0; !end && waited < compileDeadlineMilliseconds;
       waited += pollMilliseconds) {
    if (isCancelled())
      return Error{"kb-compile was interrupted"};
    end = child->wait(pollMilliseconds);
  }
  if (!end)
    why = "kb-compile took longer than " +
          std::to_string(compileDeadlineMilliseconds / 1000) + " s";
  else if (!end->empty())
    why = "kb-compile ended with " + *end;
  return object;
}

Result<evaluate::ProgramReply>
ProgramCheck::ask(evaluate::ProgramRequest request) {
  request.reference = referenceObject;
  auto reply = worker->comparePrograms(request);
  if (!reply || baselineProgram.empty() ||
      std::none_of(reply->functions.begin(), reply->functions.end(),
                   [](const FunctionVerdict &verdict) {
                     return verdict.disposition == Disposition::Incorrect;
                   }))
    return reply;
  std::string why;
  auto object = build("reference", std::exchange(baselineProgram, {}),
                      {"--promote-floats"}, why);
  if (!object)
    return object.error();
  if (!why.empty())
    return reply;
  referenceObject = *object;
  return ask(std::move(request));
}

Result<std::vector<FunctionVerdict>>
ProgramCheck::compare(const std::string &program,
                      const std::set<std::string> &functions) {
  std::string why;
  auto object = build("program" + std::to_string(++built), program, {}, why);
  if (!object)
    return object.error();
  if (!why.empty()) {
    std::vector<FunctionVerdict> verdicts;
    for (const std::string &function : functions) {
      FunctionVerdict &verdict = verdicts.emplace_back();
      verdict.name = function;
      verdict.disposition = Disposition::BuildFailed;
      verdict.reason = "the optimised program cannot be built: " + why;
    }
    return verdicts;
  }
  evaluate::ProgramRequest request;
  request.baseline = baselineObject;
  request.candidate = *object;
  request.seed = options.seed;
  request.dynamicDim = options.dynamicDim;
  auto reply = ask(std::move(request));
  if (!reply)
    return reply.error();
  whyUnusable = reply->unusable;
  return reply->functions;
}
