//===- ChatClientTest.cpp - Against a scripted server ---------------------===//

#include "kernelbrain/Propose/ChatClient.h"
#include "kernelbrain/Propose/Cassette.h"
#include "kernelbrain/Support/Subprocess.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::propose;

static const std::string key = "sk-secret-0123456789";

namespace {
/// A server of test/Propose/Inputs on this machine.
class ChatClientTest : public ::testing::Test {
protected:
  ~ChatClientTest() override { std::filesystem::remove_all(folder); }

  void SetUp() override {
    char pattern[] = "/tmp/kb-chat-XXXXXX";
    folder = mkdtemp(pattern);
  }
  void serve(const std::string &script) {
    SubprocessOptions command;
    command.arguments = {"/usr/bin/env",   "python3", KB_CHAT_SERVER,
                         folder + "/port", script,    folder + "/log"};
    Result<Subprocess> started = Subprocess::start(command);
    ASSERT_TRUE(started);
    server.emplace(std::move(*started));
    std::string port;
    for (int i = 0; i < 400 && port.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      if (Result<std::string> text = readFile(folder + "/port"))
        port = *text;
    }
    ASSERT_FALSE(port.empty());
    options.endpoint = *parseEndpoint("http://127.0.0.1:" + port + "/v1");
    options.model = "m";
    options.key = key;
    options.firstDelayMs = 10;
  }
  static ChatRequest request(const std::string &text = "question") {
    ChatRequest request;
    request.kernel = "k";
    // What the server's answers are made of.
    request.messages = {
        {"system", "s"},
        {"user", text + "\n  - unroll: 1 2 4; default 1\n\nChange variant 1."}};
    request.schema = OrderedJson::parse(
        R"({"type": "object", "properties": {"parent": {"enum": [1]},
            "knobs": {"items": {"anyOf": [{"properties":
            {"name": {"enum": ["unroll"]}}}]}}}})");
    request.replyTokens = 100;
    request.worstTokens = 500;
    request.timeoutMs = 5000;
    return request;
  }
  ChatReply ask() {
    ChatClient client(options);
    ChatReply reply = *client.wait(*client.start(request()));
    EXPECT_EQ(toJson(reply).dump().find("sk-secret"), std::string::npos);
    return reply;
  }
  std::vector<Json> log() {
    std::vector<Json> lines;
    std::string text = *readFile(folder + "/log");
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at);
      lines.push_back(*parseJson(text.substr(at, end - at)));
      at = end + 1;
    }
    return lines;
  }

  std::string folder;
  std::optional<Subprocess> server;
  ChatClientOptions options;
};
} // namespace

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

TEST_F(ChatClientTest, AnswersInTheFirstForm) {
  serve("answer");
  ChatReply reply = ask();
  EXPECT_EQ(reply.outcome, ChatOutcome::Answered);
  EXPECT_NE(reply.text.find("unroll"), std::string::npos) << reply.text;
  EXPECT_EQ(reply.finish, "stop");
  EXPECT_EQ(reply.model, "scripted");
  EXPECT_EQ(reply.promptTokens, 100);
  EXPECT_EQ(reply.replyTokens, 20);
  Json sent = log().at(0);
  EXPECT_EQ(sent["path"], "/v1/chat/completions");
  EXPECT_EQ(sent["headers"]["Authorization"], "Bearer " + key);
  EXPECT_EQ(sent["body"]["response_format"]["type"], "json_schema");
  EXPECT_EQ(sent["body"]["max_tokens"], 100);
}

TEST_F(ChatClientTest, LearnsTheFormOnce) {
  for (const char *form : {"json_object", "text"}) {
    std::filesystem::remove(folder + "/port");
    std::filesystem::remove(folder + "/log");
    serve(form);
    ChatClient client(options);
    std::vector<uint64_t> handles;
    for (int i = 0; i < 4; ++i)
      handles.push_back(*client.start(request(std::to_string(i))));
    for (uint64_t handle : handles)
      EXPECT_EQ(client.wait(handle)->outcome, ChatOutcome::Answered);
    // Those that taught it, then four that knew.
    size_t taught = std::string(form) == "text" ? 2 : 1;
    ASSERT_EQ(log().size(), 4 + taught);
    EXPECT_EQ(log().back()["body"].contains("response_format"), taught == 1);
  }
}

TEST_F(ChatClientTest, SeveralAreOnTheWireAtOnce) {
  serve("answer,slow");
  ChatClient client(options);
  ASSERT_EQ(client.wait(*client.start(request()))->outcome,
            ChatOutcome::Answered);
  auto start = std::chrono::steady_clock::now();
  std::vector<uint64_t> handles;
  for (int i = 0; i < 8; ++i)
    handles.push_back(*client.start(request()));
  for (uint64_t handle : handles)
    EXPECT_EQ(client.wait(handle)->outcome, ChatOutcome::Answered);
  // Eight times half a second, one after the other, would be four.
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(3500));
}

TEST_F(ChatClientTest, ShowsWhatItSends) {
  serve("answer");
  std::string shown;
  options.show = [&](const std::string &text) { shown += text; };
  ask();
  for (const ChatMessage &message : request().messages)
    EXPECT_NE(shown.find("[" + message.role + "]\n" + message.content),
              std::string::npos);
  EXPECT_NE(shown.find("json_schema"), std::string::npos);
  EXPECT_EQ(shown.find("sk-secret"), std::string::npos);
}

TEST_F(ChatClientTest, AMissingUsageIsUnknown) {
  serve("nousage");
  ChatReply reply = ask();
  EXPECT_EQ(reply.outcome, ChatOutcome::Answered);
  EXPECT_FALSE(reply.promptTokens);
}

//===----------------------------------------------------------------------===//
// Servers that fail
//===----------------------------------------------------------------------===//

TEST_F(ChatClientTest, WaitsAsLongAsTheServerSays) {
  serve("429,answer");
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(ask().outcome, ChatOutcome::Answered);
  EXPECT_GE(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(990));
  EXPECT_EQ(log().size(), 2u);
}

TEST_F(ChatClientTest, AServerThatWantsTooLongIsGivenUp) {
  serve("429");
  options.longestDelayMs = 500;
  ChatReply reply = ask();
  EXPECT_EQ(reply.outcome, ChatOutcome::Busy);
  EXPECT_EQ(reply.error, "HTTP status 429: slow down");
  EXPECT_EQ(log().size(), 1u);
}

TEST_F(ChatClientTest, ServerErrorsAreTriedAgain) {
  serve("503,503,answer");
  EXPECT_EQ(ask().outcome, ChatOutcome::Answered);
}

TEST_F(ChatClientTest, ServerErrorsThatLastAreBusy) {
  serve("500");
  ChatReply reply = ask();
  EXPECT_EQ(reply.outcome, ChatOutcome::Busy);
  EXPECT_EQ(reply.promptTokens, 0); // An error costs nothing.
  EXPECT_EQ(log().size(), 5u);      // Two forms, then three times the last.
}

TEST_F(ChatClientTest, NobodyListens) {
  serve("answer");
  server.reset();
  ChatReply reply = ask();
  EXPECT_EQ(reply.outcome, ChatOutcome::Unreachable);
  EXPECT_EQ(reply.promptTokens, 0);
}

TEST_F(ChatClientTest, AServerThatHangsTimesOut) {
  serve("hang");
  ChatClient client(options);
  ChatRequest asked = request();
  asked.timeoutMs = 300;
  ChatReply reply = *client.wait(*client.start(asked));
  EXPECT_EQ(reply.outcome, ChatOutcome::TimedOut);
  EXPECT_FALSE(reply.promptTokens); // Who knows what it will be billed.
}

TEST_F(ChatClientTest, AReplyThatBreaksOffIsTriedAgain) {
  serve("cut,answer");
  ChatReply reply = ask();
  EXPECT_EQ(reply.outcome, ChatOutcome::Answered);
  EXPECT_EQ(reply.failedAttempts, 1);
}

TEST_F(ChatClientTest, RepliesThatAlwaysBreakOff) {
  serve("cut");
  EXPECT_EQ(ask().outcome, ChatOutcome::Unreachable);
  EXPECT_EQ(log().size(), 3u);
}

TEST_F(ChatClientTest, AHugeReplyIsNotRead) {
  serve("huge");
  ChatReply reply = ask();
  EXPECT_EQ(reply.outcome, ChatOutcome::TooLarge);
  EXPECT_EQ(log().size(), 1u);
}

TEST_F(ChatClientTest, RepliesThatAreNoRepliesAreMalformed) {
  serve("utf8,deep,envelope");
  EXPECT_NE(ask().error.find("invalid JSON"), std::string::npos);
  EXPECT_NE(ask().error.find("nested"), std::string::npos);
  ChatReply reply = ask();
  EXPECT_EQ(reply.outcome, ChatOutcome::Malformed);
  EXPECT_FALSE(reply.promptTokens);
}

TEST_F(ChatClientTest, DeniedAndOverQuotaAreNotTriedAgain) {
  serve("denied,quota");
  ChatReply denied = ask();
  EXPECT_EQ(denied.outcome, ChatOutcome::Denied);
  // The server says the key; nobody else does.
  EXPECT_EQ(denied.error, "HTTP status 401: bad key Bearer [key]");
  EXPECT_EQ(ask().outcome, ChatOutcome::OverQuota);
  EXPECT_EQ(log().size(), 2u);
}

TEST_F(ChatClientTest, TheKeyIsTakenOutOfAnswers) {
  serve("echo");
  EXPECT_NE(ask().text.find("your key is Bearer [key]"), std::string::npos);
}

TEST_F(ChatClientTest, RedirectsAreNotFollowed) {
  serve("redirect");
  EXPECT_EQ(ask().outcome, ChatOutcome::Refused);
}

TEST_F(ChatClientTest, AnInterruptEndsTheWait) {
  serve("hang");
  options.interrupted = [] { return true; };
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(ask().outcome, ChatOutcome::Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

//===----------------------------------------------------------------------===//
// Addresses and keys
//===----------------------------------------------------------------------===//

TEST(Endpoint, AddressesAreRead) {
  Result<Endpoint> local = parseEndpoint("http://127.0.0.1:8123/v1/");
  ASSERT_TRUE(local);
  EXPECT_EQ(local->url, "http://127.0.0.1:8123/v1/chat/completions");
  EXPECT_TRUE(local->isLoopback);
  EXPECT_EQ(parseEndpoint("https://h/a/chat/completions")->url,
            "https://h/a/chat/completions");
  EXPECT_TRUE(parseEndpoint("http://[::1]:1/v1")->isLoopback);
  for (const char *bad : {"", "h/v1", "ftp://h/v1", "http://u:p@h/v1",
                          "http://h/v1?key=1", "file:///etc/passwd", "http://"})
    EXPECT_FALSE(parseEndpoint(bad)) << bad;
}

TEST(Endpoint, KeysGoToHttpsAndThisMachineOnly) {
  for (const char *good : {"https://h/v1", "http://localhost:1/v1",
                           "http://127.3.2.1/v1", "http://[::1]/v1"})
    EXPECT_TRUE(parseEndpoint(good)->mayHaveKey()) << good;
  for (const char *bad : {"http://h/v1", "http://127.0.0.1.evil.org/v1",
                          "http://localhost.evil.org/v1", "http://10.0.0.1/v1"})
    EXPECT_FALSE(parseEndpoint(bad)->mayHaveKey()) << bad;
}

TEST(Endpoint, KeysComeFromTheEnvironment) {
  ::setenv("KB_LLM_API_KEY", "one", 1);
  ::setenv("OPENAI_API_KEY", "two", 1);
  EXPECT_EQ(*apiKeyFromEnvironment(), "one");
  ::unsetenv("KB_LLM_API_KEY");
  EXPECT_EQ(*apiKeyFromEnvironment(), "two");
  ::setenv("OPENAI_API_KEY", "two\r\nHost: evil", 1);
  Result<std::string> bad = apiKeyFromEnvironment();
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.find("two"), std::string::npos);
  ::unsetenv("OPENAI_API_KEY");
  EXPECT_EQ(*apiKeyFromEnvironment(), "");
}

//===----------------------------------------------------------------------===//
// With a cassette between
//===----------------------------------------------------------------------===//

TEST_F(ChatClientTest, WhatIsRecordedIsNotAskedAgain) {
  serve("echo");
  std::string path = folder + "/cassette.jsonl", first;
  for (bool resume : {false, true}) {
    auto cassette = Cassette::record(path, resume,
                                     std::make_unique<ChatClient>(options), 4);
    ASSERT_TRUE(cassette) << cassette.error().message;
    ChatReply reply = *(*cassette)->wait(*(*cassette)->start(request()));
    EXPECT_EQ(reply.outcome, ChatOutcome::Answered);
    first = first.empty() ? reply.text : first;
    EXPECT_EQ(reply.text, first);
  }
  EXPECT_EQ(log().size(), 1u);
  EXPECT_EQ(readFile(path)->find("sk-secret"), std::string::npos);
}
