//===- Endpoint.cpp - Where a model is served, and the key for it ---------===//

#include "kernelbrain/Propose/ChatClient.h"

#include <cstdlib>
#include <curl/curl.h>

namespace kernelbrain::propose {

namespace {
struct UrlHandle {
  CURLU *url = curl_url();
  ~UrlHandle() { curl_url_cleanup(url); }

  std::string part(CURLUPart which) const {
    char *text = nullptr;
    if (curl_url_get(url, which, &text, 0) != CURLUE_OK || !text)
      return "";
    std::string result = text;
    curl_free(text);
    return result;
  }
};

bool isLoopbackHost(const std::string &host) {
  return host == "localhost" || host == "[::1]" ||
         (host.rfind("127.", 0) == 0 &&
          host.find_first_not_of("0123456789.") == std::string::npos);
}
} // namespace

Result<Endpoint> parseEndpoint(const std::string &text) {
  UrlHandle handle;
  // Without a scheme curl would guess one.
  CURLUcode code = curl_url_set(handle.url, CURLUPART_URL, text.c_str(), 0);
  std::string scheme = handle.part(CURLUPART_SCHEME);
  if (code != CURLUE_OK || (scheme != "http" && scheme != "https"))
    return Error{"expected an address such as http://127.0.0.1:8123/v1"};
  if (!handle.part(CURLUPART_USER).empty() ||
      !handle.part(CURLUPART_PASSWORD).empty())
    return Error{"an address holds no user or password: a key is given in the "
                 "environment variable KB_LLM_API_KEY"};
  if (!handle.part(CURLUPART_QUERY).empty() ||
      !handle.part(CURLUPART_FRAGMENT).empty())
    return Error{"an address has no '?' and no '#'"};
  std::string path = handle.part(CURLUPART_PATH);
  while (!path.empty() && path.back() == '/')
    path.pop_back();
  const std::string resource = "/chat/completions";
  if (path.size() < resource.size() ||
      path.compare(path.size() - resource.size(), std::string::npos,
                   resource) != 0)
    path += resource;
  if (curl_url_set(handle.url, CURLUPART_PATH, path.c_str(), 0) != CURLUE_OK)
    return Error{"the path is no part of an address"};
  Endpoint endpoint;
  endpoint.url = handle.part(CURLUPART_URL);
  endpoint.isSecure = scheme == "https";
  endpoint.isLoopback = isLoopbackHost(handle.part(CURLUPART_HOST));
  return endpoint;
}

Result<std::string> apiKeyFromEnvironment() {
  for (const char *name : {"KB_LLM_API_KEY", "OPENAI_API_KEY"}) {
    const char *value = std::getenv(name);
    if (!value || !*value)
      continue;
    std::string key = value;
    for (unsigned char c : key)
      if (c <= 0x20 || c >= 0x7f)
        return Error{std::string("environment variable ") + name +
                     " holds a blank or a character that no key has"};
    return key;
  }
  return std::string();
}

} // namespace kernelbrain::propose
