//===- ModelProposer.cpp - A proposer that asks a model -------------------===//

#include "ModelProposer.h"

#include "kernelbrain/Propose/Cassette.h"
#include "kernelbrain/Propose/ChatClient.h"
#include "kernelbrain/Propose/LlmProposer.h"
#include "kernelbrain/Propose/MixedProposer.h"

#include <cmath>

using namespace kernelbrain;

/// Reads "prompt/reply".
static Status readPrice(const std::string &text, propose::LlmOptions &model) {
  char *end = nullptr;
  model.promptPrice = std::strtod(text.c_str(), &end);
  bool good = end != text.c_str() && *end == '/';
  if (good) {
    const char *second = end + 1;
    model.replyPrice = std::strtod(second, &end);
    good = end != second && *end == 0;
  }
  auto sane = [](double price) { return price >= 0 && price < 1e6; };
  if (good && sane(model.promptPrice) && sane(model.replyPrice))
    return {};
  return Error{"expected option 'llm-price' such as 0.25/2.0, found '" + text +
               "'"};
}

static Result<propose::LlmOptions> llmOptions(const SessionOptions &options,
                                              const Target &target) {
  propose::LlmOptions model;
  model.target =
      target.gpu
          ? "NVIDIA GPU " + target.chip + ", " +
                std::to_string(target.gpu->multiprocessors) +
                " multiprocessors with " +
                std::to_string(target.gpu->sharedBytesPerMultiprocessor >> 10) +
                " KiB of shared memory, L2 cache of " +
                std::to_string(target.l2Bytes >> 20) + " MiB"
          : target.kind + " " + target.chip + ", vectors of " +
                std::to_string(target.vectorBytes()) + " bytes, caches of " +
                std::to_string(target.l1Bytes >> 10) + ", " +
                std::to_string(target.l2Bytes >> 10) + " and " +
                std::to_string(target.l3Bytes >> 10) + " KiB";
  model.promptTokens = options.llmPromptTokens;
  model.replyTokens = options.llmReplyTokens;
  model.timeoutMs = options.llmTimeoutSeconds * 1000;
  if (options.maxTokens > 0)
    model.maxTokens = options.maxTokens;
  if (options.maxCost > 0)
    model.maxMicroMoney = std::llround(options.maxCost * 1e6);
  if (!options.llmPrice.empty())
    if (Status ok = readPrice(options.llmPrice, model); !ok)
      return ok.error();
  return model;
}

/// The client of the server, with what a person should know of it.
static Result<propose::ChatClientOptions>
clientOptions(const SessionOptions &options, Interrupt &interrupt,
              std::function<void(const std::string &)> show) {
  propose::ChatClientOptions client;
  auto endpoint = propose::parseEndpoint(options.llmEndpoint);
  if (!endpoint)
    return endpoint.error();
  auto key = propose::apiKeyFromEnvironment();
  if (!key)
    return key.error();
  client.endpoint = *endpoint;
  client.model = options.llmModel;
  client.key = *key;
  client.interrupted = [&interrupt] { return interrupt.requested(); };
  if (options.showPrompts)
    client.show = std::move(show);
  return client;
}

/// Questions on their way while variants are timed are free with a server
/// elsewhere; one on this machine would disturb the measurements.
static unsigned askAheadFor(const SessionOptions &options,
                            const propose::Endpoint &endpoint) {
  constexpr unsigned ahead = 4;
  return endpoint.isLoopback && !options.isDryRun() ? 0 : ahead;
}

Result<ModelProposer>
kernelbrain::makeModelProposer(const SessionOptions &options, RunStore &store,
                               const Target &target, Interrupt &interrupt,
                               std::function<void(const std::string &)> show) {
  auto model = llmOptions(options, target);
  if (!model)
    return model.error();
  ModelProposer result;
  std::unique_ptr<propose::ChatService> service;
  int64_t lostTokens = 0;
  if (!options.replay.empty()) {
    auto cassette = propose::Cassette::replay(options.replay);
    if (!cassette)
      return cassette.error();
    result.askAhead = (*cassette)->askAhead();
    service = std::move(*cassette);
  } else {
    auto client = clientOptions(options, interrupt, std::move(show));
    if (!client)
      return client.error();
    result.askAhead = askAheadFor(options, client->endpoint);
    service = std::make_unique<propose::ChatClient>(std::move(*client));
    if (store.journal()) { // Else the run belongs to another process.
      auto cassette = propose::Cassette::record(
          store.runFolder() + "/cassette.jsonl", store.isResumed(),
          std::move(service), result.askAhead);
      if (!cassette)
        return cassette.error();
      lostTokens = (*cassette)->lostTokens();
      service = std::move(*cassette);
    }
  }
  result.proposer = std::make_unique<propose::LlmProposer>(
      std::move(*model), std::move(service), lostTokens);
  if (options.proposer == "mixed")
    result.proposer =
        std::make_unique<propose::MixedProposer>(std::move(result.proposer));
  return result;
}
