//===- CudaToolkit.cpp - Where NVIDIA's toolkit is ------------------------===//

#include "kernelbrain/Compile/DeviceCode.h"
#include "kernelbrain/Support/Subprocess.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <unistd.h>

using namespace llvm;

namespace kernelbrain::compile {

/// Folders of toolkits, the one that the user names first.
static std::vector<std::string> toolkitFolders() {
  std::vector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable); value && *value)
      folders.push_back(value);
  folders.push_back("/usr/local/cuda");
  std::vector<std::string> versions;
  std::error_code failure;
  for (sys::fs::directory_iterator it("/usr/local", failure), end;
       it != end && !failure; it.increment(failure))
    if (sys::path::filename(it->path()).starts_with("cuda-"))
      versions.push_back(it->path());
  llvm::sort(versions, std::greater<>());
  folders.insert(folders.end(), versions.begin(), versions.end());
  return folders;
}

static std::string findIn(ArrayRef<std::string> folders, StringRef name) {
  for (const std::string &folder : folders) {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

/// What a program prints on either stream within ten seconds; empty if it
/// fails.
static std::string outputOf(std::vector<std::string> command) {
  SubprocessOptions options;
  options.arguments = std::move(command);
  options.mergeStderr = true;
  Result<Subprocess> process = Subprocess::start(options);
  if (!process)
    return "";
  process->closeInput();
  std::string text;
  char buffer[4096];
  ssize_t count;
  while ((count = read(process->output(), buffer, sizeof buffer)) > 0)
    text.append(buffer, count);
  std::optional<std::string> ended = process->wait(10000);
  return ended && ended->empty() ? text : "";
}

/// The newest PTX that a release of the toolkit takes: version 7.0 came with
/// release 11.0, 8.0 with 12.0, and so on, but for these.
static unsigned ptxVersionOf(unsigned major, unsigned minor) {
  if (major == 12 && minor >= 6) // 12.6 brought nothing new.
    return 80 + minor - 1;
  return (major - 4) * 10 + minor;
}

static void askPtxas(CudaToolkit &toolkit) {
  std::string version = outputOf({toolkit.ptxas, "--version"});
  StringRef rest = StringRef(version).split("release ").second;
  unsigned major = 0, minor = 0;
  if (rest.consumeInteger(10, major) || !rest.consume_front(".") ||
      rest.consumeInteger(10, minor)) {
    toolkit.ptxas.clear();
    return;
  }
  toolkit.ptxVersion = ptxVersionOf(major, minor);
  SmallVector<StringRef> words;
  std::string help = outputOf({toolkit.ptxas, "--help"});
  StringRef(help).split(words, '\'');
  for (StringRef word : words)
    if (word.starts_with("sm_") && !is_contained(toolkit.chips, word))
      toolkit.chips.push_back(word.str());
}

CudaToolkit CudaToolkit::find() {
  CudaToolkit toolkit;
  std::vector<std::string> folders = toolkitFolders();
  toolkit.ptxas = findIn(folders, "bin/ptxas");
  if (toolkit.ptxas.empty())
    if (auto found = sys::findProgramByName("ptxas"))
      toolkit.ptxas = *found;
  // A script that starts another program could not do so in a sandbox.
  file_magic kind;
  if (!toolkit.ptxas.empty() &&
      (identify_magic(toolkit.ptxas, kind) || !kind.is_object()))
    toolkit.ptxas.clear();
  if (!toolkit.ptxas.empty())
    askPtxas(toolkit);
  std::string path = findIn(folders, "nvvm/libdevice/libdevice.10.bc");
  if (auto file = MemoryBuffer::getFile(path); !path.empty() && file)
    toolkit.libdevice = (*file)->getBuffer().str();
  return toolkit;
}

} // namespace kernelbrain::compile
