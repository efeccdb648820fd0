//===- CompileServerBuilder.h - Client of kb-compile --serve ----*- C++ -*-===//

#ifndef KERNELBRAIN_BUILD_COMPILESERVERBUILDER_H
#define KERNELBRAIN_BUILD_COMPILESERVERBUILDER_H

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Search/Interfaces.h"
#include "kernelbrain/Support/Frame.h"
#include "kernelbrain/Support/Subprocess.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kernelbrain::build {

struct CompileServerOptions {
  /// Path of kb-compile; empty: environment KB_COMPILE, then beside this
  /// executable.
  std::string program;
  unsigned jobs = 1;              ///< builds side by side
  std::string memoryLimit = "4G"; ///< of one build
  int64_t deadlineSeconds = 30;   ///< of one build
  std::string targetCpu;          ///< empty: this machine's
  std::optional<Target> gpu;      ///< to build for instead of the CPU
  int64_t threads = 1;            ///< that a kernel may use
  /// Where artifacts are kept: takes the bytes of a shared object and returns
  /// its path. storeInDirectory() is the simple one.
  std::function<Result<std::string>(const std::string &bytes)> store;
};

/// Keeps artifacts in `directory`, which exists, as <content hash>.so.
std::function<Result<std::string>(const std::string &)>
storeInDirectory(std::string directory);

/// Builds variants in kb-compile's forks. A server that dies is started again
/// and gets its kernels and unfinished builds once more; a build that was under
/// way at two deaths is a HarnessFault. For one thread; the process ignores
/// SIGPIPE.
class CompileServerBuilder : public search::Builder {
public:
  /// Starts the server. Errors: no program; it speaks another protocol or has
  /// another version than the parts of this process.
  static Result<std::unique_ptr<CompileServerBuilder>>
  start(const CompileServerOptions &options);

  /// What the server builds for.
  const Target &target() const { return builtFor; }
  /// Hash of the strategies that it knows.
  const std::string &strategyLibrary() const { return strategies; }
  const std::string &llvmVersion() const { return version; }
  /// What the user should know of its tools, a sentence each.
  const std::vector<std::string> &notes() const { return told; }

  /// Gives the server a kernel: `module` is text or bytecode of a module with
  /// this one kb.kernel. Errors: the server does not accept it.
  Status addKernel(const Kernel &kernel, std::string module);

  Status submit(const search::BuildRequest &request) override;
  Result<search::BuildResult> wait() override;
  Result<search::PayloadReading> readPayload(const std::string &kernel,
                                             const std::string &text) override;
  Status setPaused(bool paused) override;

  /// Builds all requests side by side and returns their results in order; the
  /// requests' ids are not used. Builds that were under way, of a search that
  /// stopped, are waited for and dropped.
  Result<std::vector<search::BuildResult>>
  buildAll(std::vector<search::BuildRequest> requests);

  /// Descriptor that is readable when wait() may have something to read.
  int descriptor() const { return server->output(); }
  /// Times that the server was started again.
  unsigned restarts() const { return restartCount; }

private:
  struct Pending {
    search::BuildRequest request;
    unsigned deaths = 0;
  };

  explicit CompileServerBuilder(CompileServerOptions options)
      : options(std::move(options)) {}
  Status launch();
  Status greet();
  Status restart(const Error &why);
  Status replay();
  Status sendBuild(uint64_t wireId, const search::BuildRequest &request);
  Status send(const Json &message, const std::string &blob = "");
  /// The next frame; an error if the server died or is silent for that long
  /// (-1: for ever).
  Result<Frame> receive(int64_t timeoutMs);
  /// Sends a request and returns its answer; keeps builds that finish before.
  Result<Frame> exchange(Json message, const std::string &blob);
  Result<Frame> exchangeOnce(Json message, const std::string &blob);
  Status accept(Frame frame);
  search::BuildResult makeResult(const search::BuildRequest &request,
                                 Frame frame);

  CompileServerOptions options;
  std::string program;
  std::optional<Subprocess> server;
  FrameParser parser;
  Target builtFor;
  std::string strategies, version;
  std::vector<std::string> told; ///< notes()
  struct KnownKernel {
    Json description;
    std::string module;
  };
  std::map<std::string, KnownKernel> kernels;
  std::map<uint64_t, Pending> pending; ///< by the id on the wire
  std::deque<search::BuildResult> finished;
  uint64_t nextWireId = 1;
  bool paused = false;
  bool restarting = false;
  unsigned restartCount = 0;
  unsigned deathsInARow = 0; ///< without a finished build between
};

} // namespace kernelbrain::build

#endif // KERNELBRAIN_BUILD_COMPILESERVERBUILDER_H
