//===- FrameTest.cpp - Messages over pipes --------------------------------===//

#include "kernelbrain/Support/Frame.h"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace kernelbrain;

namespace {
struct Pipe {
  int ends[2];
  Pipe() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
  ~Pipe() {
    ::close(ends[0]);
    closeWrite();
  }
  void closeWrite() {
    if (ends[1] >= 0)
      ::close(ends[1]);
    ends[1] = -1;
  }
  void put(const std::string &bytes) {
    EXPECT_EQ(::write(ends[1], bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
};
} // namespace

static Frame example() {
  return Frame{{{"type", "hello"}, {"text", "line\nline"}},
               std::string("a\0b\n", 4)};
}

TEST(Frame, RoundTripsOverAPipe) {
  Pipe pipe;
  ASSERT_TRUE(writeFrame(pipe.ends[1], example()));
  ASSERT_TRUE(writeFrame(pipe.ends[1], Frame{{{"type", "bye"}}, ""}));
  pipe.closeWrite();
  Result<std::optional<Frame>> frame = readFrame(pipe.ends[0]);
  ASSERT_TRUE(frame);
  ASSERT_TRUE(*frame);
  EXPECT_EQ((*frame)->message, example().message);
  EXPECT_EQ((*frame)->blob, example().blob);
  frame = readFrame(pipe.ends[0]);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->message["type"], "bye");
  frame = readFrame(pipe.ends[0]);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(*frame); // a clean end
}

TEST(Frame, LargeBlobsPassWhateverThePipeHolds) {
  Pipe pipe;
  Frame large{{{"type", "blob"}}, std::string(size_t(3) << 20, 'x')};
  ::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK); // partial writes and EAGAIN
  std::thread writer([&] { EXPECT_TRUE(writeFrame(pipe.ends[1], large)); });
  Result<std::optional<Frame>> frame = readFrame(pipe.ends[0]);
  writer.join();
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->blob, large.blob);
}

TEST(Frame, AClosedPeerIsAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  int write = std::exchange(pipe.ends[1], -1);
  ::close(pipe.ends[0]);
  pipe.ends[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(writeFrame(write, example()));
  ::close(write);
}

TEST(Frame, TheParserYieldsWholeFramesOnly) {
  std::string bytes = encodeFrame(example()) + encodeFrame(example());
  FrameParser parser;
  int frames = 0;
  for (char byte : bytes) {
    parser.feed(std::string_view(&byte, 1));
    Result<std::optional<Frame>> frame = parser.next();
    ASSERT_TRUE(frame);
    if (*frame) {
      ++frames;
      EXPECT_EQ((*frame)->blob, example().blob);
    }
  }
  EXPECT_EQ(frames, 2);
  EXPECT_TRUE(parser.empty());
}

TEST(Frame, MalformedFramesAreErrors) {
  for (const char *text :
       {"x 0\n{}", "2\n{}", "2 0 1\n{}", "2  0\n{}", "-2 0\n{}", "\n",
        "99999999999999999999 0\n", "2 99999999999\n{}", "2 0\n{}", "3 0\n[1]",
        "12 0\n{\"type\": 12}",
        "a header line that never seems to end ......"}) {
    FrameParser parser;
    parser.feed(text);
    Result<std::optional<Frame>> frame = parser.next();
    EXPECT_FALSE(frame) << text;
    Pipe pipe;
    pipe.put(text);
    pipe.closeWrite();
    EXPECT_FALSE(readFrame(pipe.ends[0])) << text;
  }
}

TEST(Frame, AnEndInsideAFrameIsAnError) {
  std::string whole = encodeFrame(example());
  for (size_t length = 1; length < whole.size(); ++length) {
    Pipe pipe;
    pipe.put(whole.substr(0, length));
    pipe.closeWrite();
    Result<std::optional<Frame>> frame = readFrame(pipe.ends[0]);
    ASSERT_FALSE(frame) << length;
    EXPECT_EQ(frame.error().message, "end of file inside a frame");
  }
}
