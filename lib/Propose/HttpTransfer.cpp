//===- HttpTransfer.cpp - One request on the wire -------------------------===//

#include "HttpTransfer.h"

#include <cmath>
#include <cstdlib>

namespace kernelbrain::propose {

constexpr long connectTimeoutMs = 5000;

HttpTransfer::HttpTransfer(CURLM *multi, const Endpoint &endpoint,
                           const std::string &key, std::string body,
                           size_t maxReplyBytes, int64_t timeoutMs)
    : multi(multi), easy(curl_easy_init()), request(std::move(body)),
      maxReplyBytes(maxReplyBytes) {
  headers = curl_slist_append(headers, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Accept: application/json");
  headers = curl_slist_append(headers, "Expect:"); // No extra round trip.
  if (!key.empty() && endpoint.mayHaveKey())
    headers =
        curl_slist_append(headers, ("Authorization: Bearer " + key).c_str());
  curl_easy_setopt(easy, CURLOPT_URL, endpoint.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  // A redirect would take prompts, and perhaps the key, to another place.
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.c_str());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeoutMs));
  curl_easy_setopt(
      easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min<int64_t>(timeoutMs, connectTimeoutMs)));
  if (endpoint.isLoopback) // What is for this machine stays on it.
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_multi_add_handle(multi, easy);
}

HttpTransfer::~HttpTransfer() {
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(headers);
}

size_t HttpTransfer::receive(char *bytes, size_t size, size_t count,
                             void *self) {
  auto *transfer = static_cast<HttpTransfer *>(self);
  if (transfer->reply.size() + size * count > transfer->maxReplyBytes) {
    transfer->tooLarge = true;
    return 0;
  }
  transfer->reply.append(bytes, size * count);
  return size * count;
}

/// Seconds or a date; some servers say milliseconds as well.
std::optional<int64_t> HttpTransfer::retryAfterMs() const {
  curl_header *header = nullptr;
  if (curl_easy_header(easy, "retry-after-ms", 0, CURLH_HEADER, -1, &header) ==
      CURLHE_OK) {
    char *end = nullptr;
    double ms = std::strtod(header->value, &end);
    if (end != header->value && ms >= 0 && ms < 1e12)
      return static_cast<int64_t>(std::ceil(ms));
  }
  curl_off_t seconds = 0; // curl reads both of its forms.
  if (curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK &&
      seconds > 0)
    return static_cast<int64_t>(std::min<curl_off_t>(seconds, 1000000000)) *
           1000;
  return std::nullopt;
}

/// There is no whole reply.
TransferResult HttpTransfer::failure(CURLcode code) const {
  TransferResult result;
  result.error = curl_easy_strerror(code);
  double connected = 0;
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME, &connected);
  result.mayBeBilled = connected > 0;
  if (tooLarge) {
    result.outcome = ChatOutcome::TooLarge;
    result.error =
        "the reply is over " + std::to_string(maxReplyBytes) + " bytes";
    return result;
  }
  switch (code) {
  case CURLE_OPERATION_TIMEDOUT:
    result.outcome = ChatOutcome::TimedOut;
    result.error = "no reply in time";
    return result;
  case CURLE_COULDNT_CONNECT:
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY:
  case CURLE_GOT_NOTHING:
  case CURLE_HTTP2:
  case CURLE_HTTP2_STREAM:
  case CURLE_PARTIAL_FILE:
  case CURLE_RECV_ERROR:
  case CURLE_SEND_ERROR:
    result.mayHeal = true;
    break;
  default: // A certificate or a protocol that is wrong stays so.
    break;
  }
  const char *url = nullptr; // Has no password in it: see parseEndpoint.
  if (curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url) == CURLE_OK && url)
    result.error = std::string(url) + ": " + result.error;
  return result;
}

/// There is a reply, and it is no answer.
TransferResult HttpTransfer::refusal(long status) const {
  TransferResult result;
  result.status = status;
  result.body = reply;
  std::string said = wireError(reply);
  result.error = "HTTP status " + std::to_string(status) +
                 (said.empty() ? "" : ": " + said);
  bool busy = status == 408 || status == 409 || status == 429 || status >= 500;
  if (status == 401 || status == 403) {
    result.outcome = ChatOutcome::Denied;
  } else if (status == 402 || (status == 429 && saysOverQuota(reply))) {
    result.outcome = ChatOutcome::OverQuota;
  } else {
    result.outcome = busy ? ChatOutcome::Busy : ChatOutcome::Refused;
    result.mayHeal = busy;
    result.retryAfterMs = retryAfterMs();
  }
  return result;
}

TransferResult HttpTransfer::result(CURLcode code) const {
  if (code != CURLE_OK)
    return failure(code);
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200)
    return refusal(status);
  TransferResult result;
  result.outcome = ChatOutcome::Answered;
  result.status = status;
  result.body = reply;
  return result;
}

} // namespace kernelbrain::propose
