//===- HttpTransfer.h - One request on the wire -----------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_PROPOSE_HTTPTRANSFER_H
#define KERNELBRAIN_LIB_PROPOSE_HTTPTRANSFER_H

#include "ChatWire.h"

#include "kernelbrain/Propose/ChatClient.h"
#include "kernelbrain/Support/Random.h"

#include <chrono>
#include <curl/curl.h>

namespace kernelbrain::propose {

/// What came of a transfer.
struct TransferResult {
  ChatOutcome outcome = ChatOutcome::Unreachable; ///< Answered: status 200
  std::string error;                              ///< of any other outcome
  long status = 0; ///< of HTTP; 0: there was none
  std::string body;
  std::optional<int64_t> retryAfterMs; ///< that the server asks for
  bool mayHeal = false;                ///< trying again is of use
  bool mayBeBilled = false;            ///< the server may have worked on it
};

/// A POST on a multi handle, from construction to destruction.
class HttpTransfer {
public:
  HttpTransfer(CURLM *multi, const Endpoint &endpoint, const std::string &key,
               std::string body, size_t maxReplyBytes, int64_t timeoutMs);
  HttpTransfer(const HttpTransfer &) = delete;
  ~HttpTransfer();

  CURL *handle() const { return easy; }
  TransferResult result(CURLcode code) const;

private:
  static size_t receive(char *bytes, size_t size, size_t count, void *self);
  TransferResult failure(CURLcode code) const;
  TransferResult refusal(long status) const;
  std::optional<int64_t> retryAfterMs() const;

  CURLM *multi;
  CURL *easy;
  curl_slist *headers = nullptr;
  std::string request, reply;
  size_t maxReplyBytes;
  bool tooLarge = false;
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_LIB_PROPOSE_HTTPTRANSFER_H
