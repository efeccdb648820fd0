//===- Link.cpp - Objects to a shared object, in this process -------------===//

#include "kernelbrain/Compile/Link.h"

#include "lld/Common/Driver.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace kernelbrain::compile {

//===----------------------------------------------------------------------===//
// Files in memory
//===----------------------------------------------------------------------===//

static Error systemError(const char *what) {
  return Error{std::string(what) + ": " + std::strerror(errno)};
}

static Result<int> memoryFile(const char *name, StringRef bytes) {
  int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0)
    return systemError("cannot create a file in memory");
  while (!bytes.empty()) {
    ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      Error error = systemError("cannot write a file in memory");
      close(fd);
      return error;
    }
    bytes = bytes.drop_front(written);
  }
  return fd;
}

static std::string readWhole(int fd) {
  struct stat status{};
  fstat(fd, &status);
  std::string bytes(status.st_size, 0);
  for (size_t at = 0; at < bytes.size();) {
    ssize_t count = pread(fd, bytes.data() + at, bytes.size() - at, at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::string();
    at += count;
  }
  return bytes;
}

static std::string pathOf(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

//===----------------------------------------------------------------------===//
// System libraries
//===----------------------------------------------------------------------===//

namespace {
struct LoadedLibraries {
  std::string libm, libc;
};
} // namespace

static LoadedLibraries findLoadedLibraries() {
  LoadedLibraries found;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &found = *static_cast<LoadedLibraries *>(data);
        StringRef path(info->dlpi_name);
        StringRef name = path.rsplit('/').second;
        if (name.starts_with("libm.so") || name.starts_with("libm-"))
          found.libm = path.str();
        if (name.starts_with("libc.so") || name.starts_with("libc-"))
          found.libc = path.str();
        return 0;
      },
      &found);
  return found;
}

static Result<int> loadIntoMemory(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return Error{"cannot read '" + path + "': " + buffer.getError().message()};
  return memoryFile("library", (*buffer)->getBuffer());
}

Result<Linker> Linker::create() {
  LoadedLibraries loaded = findLoadedLibraries();
  Linker linker;
  for (auto [path, fd] : {std::make_pair(loaded.libm, &linker.libm),
                          std::make_pair(loaded.libc, &linker.libc)}) {
    Result<int> file = loadIntoMemory(path);
    if (!file)
      return file.error().withContext("cannot link without a system library");
    *fd = *file;
  }
  // Conversions of f16 and bf16 on CPUs without instructions for them.
  if (Result<int> file = loadIntoMemory(KB_COMPILER_RT_BUILTINS))
    linker.builtins = *file;
  if (Result<int> file = loadIntoMemory(KB_OPENMP_RUNTIME))
    linker.openmp = *file;
  return std::move(linker);
}

Linker::Linker(Linker &&other) noexcept
    : libm(std::exchange(other.libm, -1)), libc(std::exchange(other.libc, -1)),
      builtins(std::exchange(other.builtins, -1)),
      openmp(std::exchange(other.openmp, -1)) {}

Linker::~Linker() {
  for (int fd : {libm, libc, builtins, openmp})
    if (fd >= 0)
      close(fd);
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

namespace {
struct Needs {
  bool libraries = false, threads = false;
};
} // namespace

/// Reading the system libraries' symbols costs a millisecond: most kernels
/// need none.
static Needs findNeeds(ArrayRef<StringRef> objects) {
  Needs needs;
  for (StringRef bytes : objects) {
    auto object = object::ObjectFile::createELFObjectFile(
        MemoryBufferRef(bytes, "object"));
    if (!object) {
      consumeError(object.takeError());
      needs.libraries = true;
      continue;
    }
    for (const object::SymbolRef &symbol : (*object)->symbols()) {
      Expected<uint32_t> flags = symbol.getFlags();
      if (!flags) {
        consumeError(flags.takeError());
        needs.libraries = true;
        continue;
      }
      if (!(*flags & object::SymbolRef::SF_Undefined) ||
          !(*flags & object::SymbolRef::SF_Global))
        continue;
      needs.libraries = true;
      if (Expected<StringRef> name = symbol.getName())
        needs.threads |= name->starts_with("__kmpc_");
      else
        consumeError(name.takeError());
    }
  }
  return needs;
}

/// Runs lld with `-o -` and standard output in a memory file. (`-o` with a path
/// fails: lld writes to a temporary file beside it.)
static Result<std::string> runLld(std::vector<const char *> arguments) {
  Result<int> out = memoryFile("shared-object", "");
  if (!out)
    return out.error();
  int saved = dup(STDOUT_FILENO);
  dup2(*out, STDOUT_FILENO);
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (saved >= 0) {
    dup2(saved, STDOUT_FILENO);
    close(saved);
  } else {
    close(STDOUT_FILENO);
  }
  std::string bytes = readWhole(*out);
  close(*out);
  if (result.retCode != 0 || bytes.empty())
    return Error{StringRef(messages).trim().str()};
  return bytes;
}

Result<std::string> Linker::link(ArrayRef<StringRef> objects,
                                 const LinkOptions &options) const {
  std::string soname = "-soname=" + options.soname;
  std::vector<const char *> arguments = {"ld.lld",
                                         "-shared",
                                         "--threads=1",
                                         "--build-id=none",
                                         "--strip-all",
                                         "-znoexecstack",
                                         "--hash-style=gnu",
                                         "--no-rosegment",
                                         "--no-dependent-libraries",
                                         soname.c_str(),
                                         "-o",
                                         "-"};
  // A function that is nowhere is missed by the callers that get to it.
  arguments.push_back(options.allowUndefined ? "-zlazy" : "-znow");
  if (!options.allowUndefined)
    arguments.push_back("-zdefs");
  std::vector<int> inputs;
  for (StringRef bytes : objects) {
    Result<int> file = memoryFile("object", bytes);
    if (!file)
      return file.error();
    inputs.push_back(*file);
  }
  std::vector<std::string> paths;
  for (int fd : inputs)
    paths.push_back(pathOf(fd));
  Needs needs = findNeeds(objects);
  if (needs.threads && openmp < 0)
    return Error{"code with threads needs the OpenMP runtime '" +
                 std::string(KB_OPENMP_RUNTIME) + "', which is not there"};
  if (needs.libraries) {
    paths.push_back("--as-needed");
    if (needs.threads)
      paths.push_back(pathOf(openmp));
    for (int fd : {libm, libc})
      paths.push_back(pathOf(fd));
    if (builtins >= 0) {
      paths.push_back("--exclude-libs=ALL");
      paths.push_back(pathOf(builtins));
    }
  }
  for (const std::string &path : paths)
    arguments.push_back(path.c_str());
  Result<std::string> bytes = runLld(arguments);
  for (int fd : inputs)
    close(fd);
  return bytes;
}

} // namespace kernelbrain::compile
