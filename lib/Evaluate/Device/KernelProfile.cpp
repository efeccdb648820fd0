//===- KernelProfile.cpp - Counts variants on the device ------------------===//

#include "kernelbrain/Evaluate/Device/KernelChecker.h"

#include "kernelbrain/Support/File.h"
#include "kernelbrain/Support/Hash.h"

namespace kernelbrain::evaluate {

Profile KernelChecker::profile(const std::string &artifact) {
  Profile profile;
  profile.refused = countersRefused;
  if (!profile.refused.empty())
    return profile;
  Result<std::string> bytes = readFile(artifact);
  if (!bytes) {
    profile.refused = bytes.error().message;
    return profile;
  }
  auto [found, isNew] = profiles.try_emplace(contentHash64(*bytes));
  if (!isNew)
    return found->second;
  Result<Profile> counted = count(artifact);
  if (counted)
    profile = std::move(*counted);
  else
    profile.refused = counted.error().message;
  // What the device refuses once, it refuses always; and a runner that ends
  // twice under the profiler (seconds each) does not do so for its code.
  profileFaults = counted ? 0 : profileFaults + 1;
  if ((counted && !profile.refused.empty()) || profileFaults == 2)
    countersRefused = profile.refused;
  // A runner in which something failed is not used again.
  if (!profile.refused.empty())
    profiler.reset();
  return found->second = profile;
}

Result<Profile> KernelChecker::count(const std::string &artifact) {
  if (profiler && !profiler->canLoad(artifact))
    profiler.reset();
  if (!profiler) {
    RunnerSetup setup = options.runner;
    setup.profile = true;
    Result<RunnerProcess> started = RunnerProcess::start(
        setup, bank->buffers().memory(), {artifact}, false);
    if (!started)
      return started.error();
    profiler = std::move(*started);
  }
  Manifest manifest;
  if (Outcome loaded = profiler->load(0, artifact, manifest); !loaded)
    return Error{loaded.reason};
  const BankSet &set = bank->sets()[0];
  bank->buffers().drawInputs(set.inputs, Placement::Centered);
  Json call = bank->buffers().callOf(set.inputs, Placement::Centered,
                                     manifest.workspaceBytes, 0);
  call["type"] = "profile";
  // Each pass is a call, and the first one sets the counters up.
  constexpr int64_t patienceMs = 20000, passes = 20;
  Json reply;
  Outcome outcome =
      profiler->ask(call, patienceMs + passes * bank->callDeadlineMs(), reply);
  if (!outcome)
    return Error{outcome.reason};
  Result<Json> object = getObject(reply, "profile");
  return object ? profileFromJson(*object) : object.error();
}

} // namespace kernelbrain::evaluate
