//===- Server.cpp - kb-compile --serve ------------------------------------===//

#include "kernelbrain/Compile/Server.h"

#include "ForkPool.h"
#include "Sandbox.h"
#include "kernelbrain/Support/Frame.h"
#include "llvm/Config/llvm-config.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace kernelbrain::compile {

constexpr int64_t protocolVersion = 1;

static std::optional<Output> outputFromString(const std::string &text) {
  if (text == "static")
    return Output::Static;
  if (text == "artifact")
    return Output::Artifact;
  if (text == "verified")
    return Output::Verified;
  if (text == "implementation")
    return Output::Implementation;
  return std::nullopt;
}

namespace {
class Server {
public:
  Server(int in, int out, const ServerOptions &options,
         const Toolchain &toolchain, std::string libraryHash,
         mlir::MLIRContext &context)
      : in(in), out(out), toolchain(toolchain),
        libraryHash(std::move(libraryHash)), context(context),
        pool({options.jobs, options.memoryLimitBytes,
              std::chrono::milliseconds(options.deadlineMs),
              toolchain.device ? toolchain.device->assembler()
                               : std::string()}) {
    pool.closeInForks(in);
    pool.closeInForks(out);
  }

  int run();

private:
  /// False at end of file.
  bool readRequests();
  bool writeReplies();
  void handle(const Frame &request);
  void handleHello(const Json &message);
  void handleKernel(const Frame &request);
  void handleBuild(const Json &message);
  void handlePayload(const Frame &request);
  /// The kernel that a request names; null after it is refused.
  const KernelSource *kernelOf(const Json &message);
  void answer(ForkOutcome outcome);

  void send(Json message, std::string blob = "") {
    replies += encodeFrame({std::move(message), std::move(blob)});
  }
  /// A fault of the request.
  void refuse(const Json &request, const std::string &why) {
    Json reply = {{"type", "error"}, {"message", why}};
    if (request.contains("id"))
      reply["id"] = request["id"];
    send(reply);
  }
  /// Nothing sensible can follow.
  void giveUp(const Json &request, const std::string &why) {
    refuse(request, why);
    exitStatus = 1;
  }

  int in, out;
  const Toolchain &toolchain;
  std::string libraryHash;
  mlir::MLIRContext &context;
  ForkPool pool;
  FrameParser parser;
  std::string replies; ///< not yet written
  std::map<std::string, KernelSource> kernels;
  /// Of a ticket: the type of its reply, and the id of its request.
  std::map<uint64_t, std::pair<std::string, Json>> ids;
  uint64_t nextTicket = 1;
  bool greeted = false;
  std::optional<int> exitStatus;
};
} // namespace

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// What whoever builds with `toolchain` should know of it.
static Json notesOn(const Toolchain &toolchain) {
  Json notes = Json::array();
  if (toolchain.device && toolchain.target.chip != emulatedChip &&
      toolchain.device->assembler().empty())
    notes.push_back("there is no ptxas for " + toolchain.target.chip +
                    " in CUDA_HOME, CUDA_PATH, /usr/local/cuda* or PATH: "
                    "kernels are PTX, which the driver translates when it "
                    "loads them; nothing is known of registers and spills");
  return notes;
}

void Server::handleHello(const Json &message) {
  int64_t version = getIntegerOr(message, "protocol", -1);
  if (version != protocolVersion)
    return giveUp(message, "expected protocol " +
                               std::to_string(protocolVersion) + ", found " +
                               std::to_string(version));
  greeted = true;
  send({{"type", "hello"},
        {"protocol", protocolVersion},
        {"llvm_version", LLVM_VERSION_STRING},
        {"target", toJson(toolchain.target)},
        {"strategy_library", libraryHash},
        {"sandbox", describeSandbox()},
        {"notes", notesOn(toolchain)}});
}

/// The description has to fit the operation: it decides on the entry's
/// signature.
static bool fits(const Kernel &description, const KernelSource &source) {
  const auto &described = description.arguments;
  const auto &found = source.description.arguments;
  if (description.name != source.description.name ||
      described.size() != found.size() ||
      description.dimHints.size() != source.description.dimHints.size())
    return false;
  for (size_t index = 0; index < found.size(); ++index)
    if (described[index].isOutput != found[index].isOutput ||
        described[index].type != found[index].type ||
        described[index].shape != found[index].shape)
      return false;
  return true;
}

void Server::handleKernel(const Frame &request) {
  Result<Json> json = getObject(request.message, "kernel");
  if (!json)
    return refuse(request.message, json.error().message);
  Result<Kernel> description = kernelFromJson(*json);
  if (!description)
    return refuse(request.message, description.error().message);
  Result<KernelSource> source = parseKernelSource(request.blob, context);
  if (!source)
    return refuse(request.message, source.error().message);
  if (!fits(*description, *source))
    return refuse(request.message, "the description of kernel '" +
                                       description->name +
                                       "' does not fit its operation");
  source->description = *description;
  kernels.insert_or_assign(description->name, std::move(*source));
  send({{"type", "kernel"}, {"id", request.message["id"]}});
}

const KernelSource *Server::kernelOf(const Json &message) {
  Result<std::string> name = getString(message, "kernel");
  if (!name) {
    refuse(message, name.error().message);
    return nullptr;
  }
  auto kernel = kernels.find(*name);
  if (kernel != kernels.end())
    return &kernel->second;
  refuse(message, "unknown kernel '" + *name + "'");
  return nullptr;
}

void Server::handleBuild(const Json &message) {
  const KernelSource *source = kernelOf(message);
  if (!source)
    return;
  Result<Json> json = getObject(message, "recipe");
  if (!json)
    return refuse(message, json.error().message);
  Result<Recipe> recipe = recipeFromJson(*json);
  if (!recipe)
    return refuse(message, recipe.error().message);
  std::string word = getStringOr(message, "output", "");
  std::optional<Output> output = outputFromString(word);
  if (!output)
    return refuse(message, "unknown output '" + word + "'");

  uint64_t ticket = nextTicket++;
  ids[ticket] = {"built", message["id"]};
  pool.submit(ticket, [source, recipe = *recipe, output = *output,
                       this](ForkStatus *status) {
    BuiltVariant built =
        buildVariant(*source, recipe, output, toolchain,
                     [status](const char *stage) { noteStage(status, stage); });
    noteStage(status, "answer");
    Json answer = {{"type", "built"},
                   {"disposition", toString(built.disposition)},
                   {"reason", built.reason},
                   {"manifest", toJson(built.manifest)},
                   {"times_ns", built.timesNs}};
    return encodeFrame({std::move(answer), std::move(built.bytes)});
  });
}

void Server::handlePayload(const Frame &request) {
  const KernelSource *source = kernelOf(request.message);
  if (!source)
    return;
  uint64_t ticket = nextTicket++;
  ids[ticket] = {"payload", request.message["id"]};
  pool.submit(ticket, [source, text = request.blob, this](ForkStatus *status) {
    noteStage(status, "payload");
    ReadPayload read = readPayload(*source, text, toolchain);
    Json spaces = Json::array();
    for (const SearchSpace &space : read.spaces)
      spaces.push_back(toJson(space));
    Json answer = {{"type", "payload"},
                   {"disposition", toString(read.disposition)},
                   {"reason", read.reason},
                   {"spaces", std::move(spaces)}};
    return encodeFrame({std::move(answer), std::move(read.text)});
  });
}

void Server::handle(const Frame &request) {
  const Json &message = request.message;
  std::string type = getStringOr(message, "type", "");
  if (type == "hello")
    return handleHello(message);
  if (!greeted)
    return giveUp(message, "expected 'hello' first, found '" + type + "'");
  if (!message.contains("id"))
    return refuse(message, "expected member 'id' in '" + type + "'");
  if (type == "kernel")
    return handleKernel(request);
  if (type == "build")
    return handleBuild(message);
  if (type == "payload")
    return handlePayload(request);
  if (type == "pause" || type == "resume") {
    pool.setPaused(type == "pause");
    return send({{"type", type}, {"id", message["id"]}});
  }
  refuse(message, "unknown request '" + type + "'");
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// A fork that ended without an answer is a bad variant, not our failure.
static Json describeFailure(const ForkOutcome &outcome,
                            const std::string &type) {
  Disposition disposition = outcome.stage == "payload"
                                ? Disposition::InvalidRecipe
                                : Disposition::BuildFailed;
  if (outcome.timedOut)
    disposition = Disposition::TimedOut;
  else if (outcome.outOfMemory)
    disposition = Disposition::OutOfResources;
  else if (outcome.stage == "start")
    disposition = Disposition::HarnessFault;
  std::string reason = outcome.ended.empty() ? "no answer" : outcome.ended;
  Json reply = {{"type", type},
                {"disposition", toString(disposition)},
                {"reason", reason + " in stage '" + outcome.stage + "'"}};
  if (reply["type"] == "built") {
    reply["manifest"] = toJson(Manifest());
    reply["times_ns"] = Json::object();
  } else {
    reply["spaces"] = Json::array();
  }
  return reply;
}

void Server::answer(ForkOutcome outcome) {
  const auto [type, id] = ids[outcome.ticket];
  Frame reply;
  reply.message = describeFailure(outcome, type);
  if (outcome.ended.empty()) {
    FrameParser answers;
    answers.feed(outcome.answer);
    if (auto frame = answers.next(); frame && *frame)
      reply = std::move(**frame);
  }
  reply.message["id"] = id;
  ids.erase(outcome.ticket);
  send(std::move(reply.message), std::move(reply.blob));
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

bool Server::readRequests() {
  char buffer[64 << 10];
  ssize_t count = read(in, buffer, sizeof buffer);
  if (count < 0)
    return errno == EINTR || errno == EAGAIN;
  if (count == 0)
    return false;
  parser.feed({buffer, static_cast<size_t>(count)});
  while (!exitStatus) {
    Result<std::optional<Frame>> frame = parser.next();
    if (!frame) {
      giveUp(Json::object(), frame.error().message);
      return true;
    }
    if (!*frame)
      return true;
    handle(**frame);
  }
  return true;
}

bool Server::writeReplies() {
  while (!replies.empty()) {
    ssize_t count = write(out, replies.data(), replies.size());
    if (count > 0)
      replies.erase(0, count);
    else if (errno == EAGAIN)
      return true;
    else if (errno != EINTR)
      return false;
  }
  return true;
}

int Server::run() {
  // Replies never wait for the client to read: it may be writing.
  fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
  while (true) {
    for (ForkOutcome &outcome : pool.step())
      answer(std::move(outcome));
    if (!writeReplies())
      return 0; // The client has gone.
    if (exitStatus && replies.empty())
      return *exitStatus;
    std::vector<pollfd> descriptors;
    int timeout = pool.prepare(descriptors);
    size_t outIndex = descriptors.size();
    descriptors.push_back(
        {out, static_cast<short>(replies.empty() ? 0 : POLLOUT), 0});
    size_t inIndex = descriptors.size();
    descriptors.push_back({in, static_cast<short>(exitStatus ? 0 : POLLIN), 0});
    if (poll(descriptors.data(), descriptors.size(), timeout) < 0)
      continue;
    if (descriptors[outIndex].revents & POLLERR)
      return 0;
    if (descriptors[inIndex].revents && !exitStatus && !readRequests())
      return 0;
  }
}

int serve(int in, int out, const ServerOptions &options,
          const Toolchain &toolchain, const std::string &strategyLibraryHash,
          mlir::MLIRContext &context) {
  signal(SIGPIPE, SIG_IGN);
  return Server(in, out, options, toolchain, strategyLibraryHash, context)
      .run();
}

} // namespace kernelbrain::compile
