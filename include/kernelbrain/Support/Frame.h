//===- Frame.h - Messages over pipes ----------------------------*- C++ -*-===//
//
// The framing that kb-compile --serve and kb-worker speak on their standard
// input and output: an ASCII line "<json bytes> <blob bytes>\n", then the JSON
// text, then the blob. docs/Protocols.md describes the messages.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_SUPPORT_FRAME_H
#define KERNELBRAIN_SUPPORT_FRAME_H

#include "kernelbrain/Support/Json.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernelbrain {

struct Frame {
  Json message;     ///< always an object with a "type"
  std::string blob; ///< raw bytes, often empty
};

/// Limits of one frame; a larger announcement is a protocol error.
constexpr size_t maxFrameJsonBytes = size_t(64) << 20;
constexpr size_t maxFrameBlobBytes = size_t(1) << 30;

/// Writes one frame; retries on EINTR and partial writes. A closed peer is an
/// error, not a signal: callers ignore SIGPIPE.
Status writeFrame(int fd, const Frame &frame);

/// Reads one frame, blocking. std::nullopt at a clean end of file; an end of
/// file inside a frame is an error.
Result<std::optional<Frame>> readFrame(int fd);

/// Takes bytes as they come and yields whole frames: for poll loops.
class FrameParser {
public:
  void feed(std::string_view bytes) { buffer.append(bytes); }
  /// The next whole frame, std::nullopt if more bytes are needed.
  Result<std::optional<Frame>> next();
  bool empty() const { return buffer.empty(); }

private:
  std::string buffer;
};

/// The bytes of one frame.
std::string encodeFrame(const Frame &frame);

} // namespace kernelbrain

#endif // KERNELBRAIN_SUPPORT_FRAME_H
