//===- CassetteTest.cpp - Replies of a model, kept ------------------------===//

#include "kernelbrain/Propose/Cassette.h"
#include "FakeChat.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::testing;

namespace {
class CassetteTest : public ::testing::Test {
protected:
  CassetteTest() {
    char pattern[] = "/tmp/kb-cassette-XXXXXX";
    folder = mkdtemp(pattern);
    path = folder + "/c.jsonl";
  }
  ~CassetteTest() override { std::filesystem::remove_all(folder); }

  static ChatRequest request(const std::string &text,
                             const std::string &kernel = "k") {
    ChatRequest request;
    request.kernel = kernel;
    request.messages = {{"user", text}};
    request.worstTokens = 700;
    return request;
  }
  std::unique_ptr<Cassette> record(bool resume) {
    auto service =
        std::make_unique<FakeChat>([](const ChatRequest &request, int number) {
          return answered(request.messages[0].content + " " +
                          std::to_string(number));
        });
    chat = service.get();
    auto cassette = Cassette::record(path, resume, std::move(service), 4);
    EXPECT_TRUE(cassette) << cassette.error().message;
    return std::move(*cassette);
  }
  std::unique_ptr<Cassette> replay(const std::string &text) {
    EXPECT_TRUE(writeFileAtomically(path, text));
    auto cassette = Cassette::replay(path);
    EXPECT_TRUE(cassette) << cassette.error().message;
    return std::move(*cassette);
  }
  static std::string ask(Cassette &cassette, const ChatRequest &request) {
    return cassette.wait(*cassette.start(request))->text;
  }

  std::string folder, path;
  FakeChat *chat = nullptr;
};
} // namespace

TEST_F(CassetteTest, AResumedRunGetsTheSameAnswers) {
  {
    auto cassette = record(false);
    EXPECT_EQ(ask(*cassette, request("a")), "a 1");
    EXPECT_EQ(ask(*cassette, request("a")), "a 2"); // asked twice, told twice
  }
  auto cassette = record(true);
  EXPECT_EQ(ask(*cassette, request("a")), "a 1");
  EXPECT_EQ(ask(*cassette, request("a")), "a 2");
  EXPECT_TRUE(chat->requests.empty());
  EXPECT_EQ(ask(*cassette, request("b")), "b 1"); // goes on with the server
  EXPECT_EQ(cassette->lostTokens(), 0);
}

TEST_F(CassetteTest, AFreshRunForgets) {
  ask(*record(false), request("a"));
  auto cassette = record(false);
  ask(*cassette, request("a"));
  EXPECT_EQ(chat->requests.size(), 1u);
}

TEST_F(CassetteTest, WhatAKilledProcessAskedIsCharged) {
  {
    auto cassette = record(false);
    ask(*cassette, request("a"));
    ASSERT_TRUE(cassette->start(request("b")));
  }
  // A line that was being written.
  std::string text = *readFile(path);
  ASSERT_TRUE(writeFileAtomically(path, text + "{\"type\": \"rep"));
  {
    auto cassette = record(true);
    EXPECT_EQ(cassette->lostTokens(), 700);
    EXPECT_EQ(ask(*cassette, request("b")), "b 1");
  }
  EXPECT_TRUE(Cassette::replay(path)); // whole again
}

TEST_F(CassetteTest, TheUsersInterruptIsNoAnswer) {
  {
    auto cassette = record(false);
    ASSERT_TRUE(cassette->cancel(*cassette->start(request("a"))));
    EXPECT_EQ(chat->cancelled, 1);
  }
  EXPECT_EQ(ask(*record(true), request("a")), "a 1");
}

TEST_F(CassetteTest, ReplayAnswersByHashOrInOrder) {
  ChatReply exact = answered("exact");
  Json line = toJson(exact);
  line["type"] = "reply";
  line["hash"] = request("a").hash();
  auto cassette = replay(
      "{\"type\": \"cassette\", \"version\": 1, \"ask_ahead\": 3}\n" +
      dumpJson(line) +
      "\n{\"type\":\"reply\",\"kernel\":\"k\",\"outcome\":\"answered\",\"text\""
      ":\"first\"}\n"
      "{\"type\":\"reply\",\"outcome\":\"answered\",\"text\":\"any\"}\n"
      "{\"type\":\"reply\",\"kernel\":\"k\",\"outcome\":\"answered\",\"text\":"
      "\"second\"}\n");
  EXPECT_EQ(cassette->askAhead(), 3u);
  // In the order in which answers are taken, not in that of the questions.
  uint64_t later = *cassette->start(request("x"));
  EXPECT_EQ(ask(*cassette, request("y")), "first");
  EXPECT_EQ(ask(*cassette, request("a")), "exact");
  EXPECT_EQ(cassette->wait(later)->text, "second");
  EXPECT_EQ(ask(*cassette, request("z", "other")), "any");
  ChatReply none = *cassette->wait(*cassette->start(request("a")));
  EXPECT_EQ(none.outcome, ChatOutcome::NotRecorded);
  EXPECT_EQ(none.promptTokens, 0);
}

TEST_F(CassetteTest, BadCassettesNameTheLine) {
  std::pair<const char *, const char *> cases[] = {
      {"{", ":1: invalid JSON"},
      {"{\"type\": \"cassette\", \"version\": 2}", "newer than this program"},
      {"\n{\"type\": \"talk\"}", ":2: unknown type 'talk'"},
      {"{\"type\": \"reply\", \"outcome\": \"sung\", \"text\": \"\"}",
       "unknown outcome"},
      {"{\"type\": \"reply\", \"outcome\": \"answered\"}", "'text' is missing"},
      {"{\"type\": \"cassette\", \"version\": 1, \"ask_ahead\": 1000}",
       "between 0 and 64"}};
  for (auto [text, expected] : cases) {
    ASSERT_TRUE(writeFileAtomically(path, text));
    auto cassette = Cassette::replay(path);
    ASSERT_FALSE(cassette) << text;
    EXPECT_NE(cassette.error().message.find(expected), std::string::npos)
        << cassette.error().message;
  }
  EXPECT_FALSE(Cassette::replay(folder + "/missing"));
}
