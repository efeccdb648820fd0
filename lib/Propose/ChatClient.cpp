//===- ChatClient.cpp - Chat Completions over HTTP ------------------------===//

#include "kernelbrain/Propose/ChatClient.h"

#include "HttpTransfer.h"

#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <thread>

namespace kernelbrain::propose {

using Clock = std::chrono::steady_clock;

namespace {
struct Job {
  ChatRequest request;
  StructuredForm form = StructuredForm::JsonSchema; ///< while none is known
  int attempts = 0; ///< transfers that failed and may heal
  int unpaid = 0;   ///< of these, those that may have been billed
  Clock::time_point due, deadline;
  bool cancelled = false;
  std::unique_ptr<HttpTransfer> transfer; ///< while it is on the wire
  std::optional<ChatReply> reply;
};
} // namespace

class ChatClient::Impl {
public:
  explicit Impl(ChatClientOptions given);
  ~Impl();

  uint64_t start(const ChatRequest &request);
  ChatReply wait(uint64_t handle);
  ChatReply cancel(uint64_t handle);

private:
  void loop();
  void startDue(Clock::time_point now);
  void finish(Job &job, uint64_t id, const TransferResult &result);
  /// The next form or name of the cap, if the error may be about these.
  bool renegotiate(Job &job, const TransferResult &result);
  /// Plans another transfer. False: there have been enough.
  bool retry(Job &job, const TransferResult &result);
  void settle(Job &job, ChatReply reply);
  ChatReply take(uint64_t handle);
  void redact(std::string &text) const;

  const ChatClientOptions options;
  CURLM *multi;
  std::mutex mutex; ///< guards everything below
  std::condition_variable settled;
  std::map<uint64_t, Job> jobs;
  uint64_t lastId = 0;
  std::optional<StructuredForm> form; ///< that the server has taken
  uint64_t probing = 0; ///< the job that learns the form; others wait for it
  std::string capName = "max_tokens";
  uint64_t jitter = 0;
  bool stopping = false;
  std::thread thread;
};

ChatClient::Impl::Impl(ChatClientOptions given) : options(std::move(given)) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  multi = curl_multi_init();
  // Signals are for the threads of the host program; writing to a connection
  // that broke is an error code here, not a signal.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread = std::thread([this] { loop(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ChatClient::Impl::~Impl() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  curl_multi_wakeup(multi);
  thread.join();
  jobs.clear();
  curl_multi_cleanup(multi);
}

//===----------------------------------------------------------------------===//
// The caller's side
//===----------------------------------------------------------------------===//

uint64_t ChatClient::Impl::start(const ChatRequest &request) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t id = ++lastId;
  Job &job = jobs[id];
  job.request = request;
  job.due = Clock::now();
  job.deadline = Clock::time_point::max(); // Counts from its first transfer.
  curl_multi_wakeup(multi);
  return id;
}

ChatReply ChatClient::Impl::take(uint64_t handle) {
  ChatReply reply = std::move(*jobs[handle].reply);
  jobs.erase(handle);
  return reply;
}

ChatReply ChatClient::Impl::wait(uint64_t handle) {
  std::unique_lock<std::mutex> lock(mutex);
  while (!jobs[handle].reply) {
    settled.wait_for(lock, std::chrono::milliseconds(50));
    if (options.interrupted && options.interrupted()) {
      lock.unlock();
      return cancel(handle);
    }
  }
  return take(handle);
}

ChatReply ChatClient::Impl::cancel(uint64_t handle) {
  std::unique_lock<std::mutex> lock(mutex);
  Job &job = jobs[handle];
  job.cancelled = true;
  curl_multi_wakeup(multi);
  settled.wait(lock, [&] { return job.reply.has_value(); });
  return take(handle);
}

//===----------------------------------------------------------------------===//
// The thread's side
//===----------------------------------------------------------------------===//

void ChatClient::Impl::loop() {
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (stopping)
        return;
      startDue(Clock::now());
    }
    int running = 0;
    curl_multi_perform(multi, &running);
    int left = 0;
    while (CURLMsg *message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE)
        continue;
      CURL *handle = message->easy_handle;
      CURLcode code = message->data.result;
      std::lock_guard<std::mutex> lock(mutex);
      for (auto &[id, job] : jobs)
        if (job.transfer && job.transfer->handle() == handle) {
          TransferResult result = job.transfer->result(code);
          job.transfer.reset();
          finish(job, id, result);
          break;
        }
    }
    // Delays of retries are short; nothing else needs a timer.
    curl_multi_poll(multi, nullptr, 0, 50, nullptr);
  }
}

void ChatClient::Impl::startDue(Clock::time_point now) {
  unsigned onWire = 0;
  for (auto &[id, job] : jobs) {
    if (job.cancelled && !job.reply) {
      ChatReply reply;
      reply.outcome = ChatOutcome::Interrupted;
      reply.error = "given up";
      // What never went out costs nothing.
      if (!job.transfer)
        reply.promptTokens = reply.replyTokens = 0;
      job.transfer.reset();
      settle(job, std::move(reply));
      if (probing == id)
        probing = 0;
    }
    onWire += job.transfer != nullptr;
  }
  for (auto &[id, job] : jobs) {
    if (job.reply || job.transfer || job.due > now ||
        onWire >= options.inFlight)
      continue;
    if (!form && probing != 0 && probing != id)
      continue;
    if (!form)
      probing = id;
    if (job.deadline == Clock::time_point::max())
      job.deadline = now + std::chrono::milliseconds(job.request.timeoutMs);
    WireOptions wire{options.model, form ? *form : job.form, capName};
    OrderedJson body = wireBody(job.request, wire);
    if (options.show)
      options.show(readableBody(body));
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        job.deadline - now);
    job.transfer = std::make_unique<HttpTransfer>(
        multi, options.endpoint, options.key,
        body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace),
        options.maxReplyBytes, std::max<int64_t>(1, left.count()));
    ++onWire;
  }
}

bool ChatClient::Impl::renegotiate(Job &job, const TransferResult &result) {
  if (result.status == 400 && capName == "max_tokens" &&
      result.body.find("max_completion_tokens") != std::string::npos) {
    capName = "max_completion_tokens";
    return true;
  }
  bool mayBeForm = result.status == 400 || result.status == 415 ||
                   result.status == 422 || result.status == 500 ||
                   result.status == 501;
  if (form || !mayBeForm || job.form == StructuredForm::Text)
    return false;
  job.form = job.form == StructuredForm::JsonSchema ? StructuredForm::JsonObject
                                                    : StructuredForm::Text;
  return true;
}

bool ChatClient::Impl::retry(Job &job, const TransferResult &result) {
  if (job.attempts >= options.retries)
    return false;
  int64_t delay = options.firstDelayMs << std::min(job.attempts, 10);
  Random random({++jitter, job.request.messages.size()});
  delay += static_cast<int64_t>(random.uniform() * 0.25 *
                                static_cast<double>(delay));
  if (result.retryAfterMs) {
    if (*result.retryAfterMs > options.longestDelayMs)
      return false;
    delay = *result.retryAfterMs;
  }
  auto due = Clock::now() + std::chrono::milliseconds(delay);
  if (due >= job.deadline)
    return false;
  ++job.attempts;
  job.unpaid += result.mayBeBilled;
  job.due = due;
  return true;
}

/// Decides by status and error code what a transfer was.
void ChatClient::Impl::finish(Job &job, uint64_t id,
                              const TransferResult &result) {
  if (result.outcome == ChatOutcome::Answered) {
    form = form ? *form : job.form;
  } else if (!job.cancelled && (renegotiate(job, result) ||
                                (result.mayHeal && retry(job, result)))) {
    return;
  }
  ChatReply reply = result.outcome == ChatOutcome::Answered
                        ? parseWireReply(result.body)
                        : ChatReply();
  if (result.outcome != ChatOutcome::Answered) {
    reply.outcome = result.outcome;
    reply.error = result.error;
    if (!result.mayBeBilled)
      reply.promptTokens = reply.replyTokens = 0;
  }
  reply.failedAttempts = job.unpaid;
  settle(job, std::move(reply));
  if (probing == id)
    probing = 0;
}

void ChatClient::Impl::redact(std::string &text) const {
  if (options.key.empty())
    return;
  for (size_t at = 0; (at = text.find(options.key, at)) != std::string::npos;)
    text.replace(at, options.key.size(), "[key]");
}

void ChatClient::Impl::settle(Job &job, ChatReply reply) {
  for (std::string *text :
       {&reply.error, &reply.text, &reply.finish, &reply.model})
    redact(*text);
  if (job.deadline != Clock::time_point::max())
    reply.latencyMs = job.request.timeoutMs -
                      std::chrono::duration_cast<std::chrono::milliseconds>(
                          job.deadline - Clock::now())
                          .count();
  job.reply = std::move(reply);
  settled.notify_all();
}

//===----------------------------------------------------------------------===//
// ChatClient
//===----------------------------------------------------------------------===//

ChatClient::ChatClient(ChatClientOptions options)
    : impl(std::make_unique<Impl>(std::move(options))) {}
ChatClient::~ChatClient() = default;

Result<uint64_t> ChatClient::start(const ChatRequest &request) {
  return impl->start(request);
}
Result<ChatReply> ChatClient::wait(uint64_t handle) {
  return impl->wait(handle);
}
Result<ChatReply> ChatClient::cancel(uint64_t handle) {
  return impl->cancel(handle);
}

} // namespace kernelbrain::propose
