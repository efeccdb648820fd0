//===- FakeServer.cpp - Speaks kb-compile's protocol without compiling ----===//
//
// How it behaves is told by --target-cpu=MODE or --target-cpu=MODE:FILE, where
// FILE counts how often the server was started.
//
//===----------------------------------------------------------------------===//

#include "kernelbrain/Core/Artifact.h"
#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Support/Frame.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace kernelbrain;

static std::string mode;
static int starts; ///< this one included

static void send(const Json &message, const std::string &blob = "") {
  if (!writeFrame(STDOUT_FILENO, {message, blob}))
    _exit(9);
}

static int countStarts(const char *file) {
  std::FILE *stream = std::fopen(file, "ab+");
  std::fputc('x', stream);
  std::fflush(stream);
  int count = static_cast<int>(std::ftell(stream));
  std::fclose(stream);
  return count;
}

static void answerHello() {
  if (mode == "dies-at-start")
    _exit(4);
  if (mode == "refuses")
    return send({{"type", "error"}, {"message", "expected protocol 7"}});
  send({{"type", "hello"},
        {"protocol", mode == "old" ? 0 : 1},
        {"llvm_version", "22.1.8"},
        {"strategy_library", "hash"},
        {"target", toJson(Target())}});
}

static Json builtMessage(const Json &request) {
  Manifest manifest;
  manifest.kind = "kernel";
  manifest.entry = request["kernel"];
  manifest.target = manifest.recipe = manifest.features = Json::object();
  return {{"type", "built"},
          {"id", request["id"]},
          {"disposition", "passed"},
          {"reason", ""},
          {"manifest", toJson(manifest)},
          {"times_ns", {{"static", 5}, {"build", 7}}}};
}

static void answerBuild(const Json &request) {
  std::string output = request["output"];
  if (mode == "dies" || (mode == "dies-once" && starts == 1))
    _exit(3);
  if (mode == "talks-rubbish" && starts == 1) {
    (void)!write(STDOUT_FILENO, "hello world\n", 12);
    return;
  }
  Json message = builtMessage(request);
  if (request["recipe"]["strategy"] == "bad") {
    message["disposition"] = "build_failed";
    message["reason"] = "no such thing";
  }
  std::string strategy = request["recipe"]["strategy"];
  send(message, output == "static" ? "" : output + " of " + strategy);
}

int main(int argc, char **argv) {
  for (int index = 1; index < argc; ++index)
    if (std::strncmp(argv[index], "--target-cpu=", 13) == 0)
      mode = argv[index] + 13;
  if (size_t colon = mode.find(':'); colon != std::string::npos) {
    starts = countStarts(mode.c_str() + colon + 1);
    mode.resize(colon);
  }
  std::vector<Json> held;
  while (true) {
    auto frame = readFrame(STDIN_FILENO);
    if (!frame || !*frame)
      return 0;
    const Json &message = (**frame).message;
    std::string type = message["type"];
    if (type == "hello") {
      answerHello();
    } else if (type == "kernel") {
      if ((**frame).blob == "bad")
        send({{"type", "error"},
              {"id", message["id"]},
              {"message", "no kb.kernel"}});
      else
        send({{"type", "kernel"}, {"id", message["id"]}});
    } else if (type == "build") {
      if (mode == "answers-at-pause")
        held.push_back(message);
      else
        answerBuild(message);
    } else {
      for (const Json &request : held)
        answerBuild(request);
      held.clear();
      send({{"type", type}, {"id", message["id"]}});
    }
  }
}
