//===- Frame.cpp - Messages over pipes ------------------------------------===//

#include "kernelbrain/Support/Frame.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace kernelbrain {

namespace {
struct Header {
  size_t jsonBytes = 0, blobBytes = 0;
};

/// Two limits of at most ten digits, a blank and a line feed.
constexpr size_t maxHeaderBytes = 24;

Error systemError(const char *what) {
  return Error{std::string(what) + ": " + std::strerror(errno)};
}

/// Reads a decimal number at `position` and moves past it. std::nullopt for no
/// digit or for more than `limit`.
std::optional<size_t> takeNumber(std::string_view text, size_t &position,
                                 size_t limit) {
  size_t start = position, value = 0;
  while (position < text.size() && text[position] >= '0' &&
         text[position] <= '9') {
    value = value * 10 + static_cast<size_t>(text[position++] - '0');
    if (value > limit)
      return std::nullopt;
  }
  if (position == start)
    return std::nullopt;
  return value;
}

/// Parses a header line without its line feed.
Result<Header> parseHeader(std::string_view line) {
  size_t position = 0;
  std::optional<size_t> json = takeNumber(line, position, maxFrameJsonBytes);
  std::optional<size_t> blob;
  if (json && position < line.size() && line[position++] == ' ')
    blob = takeNumber(line, position, maxFrameBlobBytes);
  if (!blob || position != line.size())
    return Error{"malformed frame header, or a frame over the limit"};
  return Header{*json, *blob};
}

Result<Frame> makeFrame(std::string json, std::string blob) {
  Result<Json> message = parseJson(json);
  if (!message)
    return message.error().withContext("frame");
  if (Result<std::string> type = getString(*message, "type"); !type)
    return type.error().withContext("frame");
  return Frame{std::move(*message), std::move(blob)};
}

Status writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd entry{fd, POLLOUT, 0};
      if (::poll(&entry, 1, -1) < 0 && errno != EINTR)
        return systemError("cannot wait to write a frame");
    } else if (errno != EINTR) {
      return systemError("cannot write a frame");
    }
  }
  return {};
}

/// Reads up to `bytes`; fewer only at end of file.
Result<std::string> readUpTo(int fd, size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    size_t had = text.size();
    // Grows with what arrives: an announcement alone reserves no gigabyte.
    text.resize(std::min(bytes, had + (size_t(1) << 20)));
    ssize_t count = ::read(fd, &text[had], text.size() - had);
    text.resize(had + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count == 0)
      return text;
    if (count > 0 || errno == EINTR)
      continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return systemError("cannot read a frame");
    pollfd entry{fd, POLLIN, 0};
    if (::poll(&entry, 1, -1) < 0 && errno != EINTR)
      return systemError("cannot wait to read a frame");
  }
  return text;
}

const char truncated[] = "end of file inside a frame";
} // namespace

std::string encodeFrame(const Frame &frame) {
  std::string json = dumpJson(frame.message);
  std::string bytes = std::to_string(json.size()) + " " +
                      std::to_string(frame.blob.size()) + "\n";
  bytes.reserve(bytes.size() + json.size() + frame.blob.size());
  return bytes.append(json).append(frame.blob);
}

Status writeFrame(int fd, const Frame &frame) {
  std::string bytes = encodeFrame(frame);
  if (frame.blob.size() > maxFrameBlobBytes ||
      bytes.size() - frame.blob.size() > maxFrameJsonBytes)
    return Error{"frame over the limit"};
  return writeAll(fd, bytes);
}

Result<std::optional<Frame>> readFrame(int fd) {
  std::string line;
  for (;;) {
    // One byte at a time, so that nothing of the next frame is taken.
    Result<std::string> byte = readUpTo(fd, 1);
    if (!byte)
      return byte.error();
    if (byte->empty() && line.empty())
      return std::optional<Frame>();
    if (byte->empty())
      return Error{truncated};
    if (*byte == "\n")
      break;
    line += *byte;
    if (line.size() > maxHeaderBytes)
      return Error{"malformed frame header, or a frame over the limit"};
  }
  Result<Header> header = parseHeader(line);
  if (!header)
    return header.error();
  Result<std::string> json = readUpTo(fd, header->jsonBytes);
  if (!json)
    return json.error();
  Result<std::string> blob = readUpTo(fd, header->blobBytes);
  if (!blob)
    return blob.error();
  if (json->size() < header->jsonBytes || blob->size() < header->blobBytes)
    return Error{truncated};
  Result<Frame> frame = makeFrame(std::move(*json), std::move(*blob));
  if (!frame)
    return frame.error();
  return std::optional<Frame>(std::move(*frame));
}

Result<std::optional<Frame>> FrameParser::next() {
  size_t end = buffer.find('\n');
  if (std::min(end, buffer.size()) > maxHeaderBytes)
    return Error{"malformed frame header, or a frame over the limit"};
  if (end == std::string::npos)
    return std::optional<Frame>();
  Result<Header> header = parseHeader(std::string_view(buffer).substr(0, end));
  if (!header)
    return header.error();
  size_t json = end + 1, blob = json + header->jsonBytes,
         whole = blob + header->blobBytes;
  if (buffer.size() < whole)
    return std::optional<Frame>();
  Result<Frame> frame = makeFrame(buffer.substr(json, header->jsonBytes),
                                  buffer.substr(blob, header->blobBytes));
  buffer.erase(0, whole);
  if (!frame)
    return frame.error();
  return std::optional<Frame>(std::move(*frame));
}

} // namespace kernelbrain
