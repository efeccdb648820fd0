//===- Link.cpp - Objects to a shared object, in this process -------------===//

#include "kernelbrain/Compile/Link.h"

#include "MemoryFile.h"
#include "kernelbrain/Compile/Codegen.h"
#include "kernelbrain/Core/Artifact.h"
#include "lld/Common/Driver.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <link.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace kernelbrain::compile {

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

static Result<MemoryFile> loadIntoMemory(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return Error{"cannot read '" + path + "': " + buffer.getError().message()};
  return MemoryFile::create("library", (*buffer)->getBuffer());
}

struct Linker::Libraries {
  MemoryFile libm, libc, builtins, openmp, cuda;
};

Linker::Linker() : libraries(std::make_unique<Libraries>()) {}
Linker::Linker(Linker &&other) noexcept = default;
Linker::~Linker() = default;

Result<Linker> Linker::create() {
  LoadedLibraries loaded = findLoadedLibraries();
  Linker linker;
  Libraries &libraries = *linker.libraries;
  for (auto [path, place] : {std::make_pair(loaded.libm, &libraries.libm),
                             std::make_pair(loaded.libc, &libraries.libc)}) {
    Result<MemoryFile> file = loadIntoMemory(path);
    if (!file)
      return file.error().withContext("cannot link without a system library");
    *place = std::move(*file);
  }
  // Conversions of f16 and bf16 on CPUs without instructions for them.
  if (Result<MemoryFile> file = loadIntoMemory(KB_COMPILER_RT_BUILTINS))
    libraries.builtins = std::move(*file);
  if (Result<MemoryFile> file = loadIntoMemory(KB_OPENMP_RUNTIME))
    libraries.openmp = std::move(*file);
  return std::move(linker);
}

Status Linker::addCudaRuntime(const CodeGenerator &generator) {
  LLVMContext context;
  Module module("runtime", context);
  Type *type = Type::getVoidTy(context);
  for (const char *name :
       {"Launch", "SetStream", "GetStream", "Allocate", "Free", "Copy",
        "Synchronize", "EncodeTensorMap", "Message", "TakeFailure"}) {
    auto *function = Function::Create(FunctionType::get(type, false),
                                      Function::ExternalLinkage,
                                      Twine("kbcu") + name, module);
    ReturnInst::Create(context, BasicBlock::Create(context, "", function));
  }
  generator.prepare(module);
  Result<std::string> object = generator.emitObject(module);
  if (!object)
    return object.error();
  Result<std::string> library = link({StringRef(*object)}, {cudaRuntime});
  if (!library)
    return library.error();
  Result<MemoryFile> file = MemoryFile::create("library", *library);
  if (!file)
    return file.error();
  libraries->cuda = std::move(*file);
  return {};
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

namespace {
struct Needs {
  bool libraries = false, threads = false, cuda = false;
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
      if (Expected<StringRef> name = symbol.getName()) {
        needs.threads |= name->starts_with("__kmpc_");
        needs.cuda |= name->starts_with("kbcu");
      } else {
        consumeError(name.takeError());
      }
    }
  }
  return needs;
}

/// Runs lld with `-o -` and standard output in a memory file. (`-o` with a path
/// fails: lld writes to a temporary file beside it.)
static Result<std::string> runLld(std::vector<const char *> arguments) {
  Result<MemoryFile> out = MemoryFile::create("shared-object", "");
  if (!out)
    return out.error();
  int saved = dup(STDOUT_FILENO);
  dup2(out->fd(), STDOUT_FILENO);
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
  std::string bytes = out->readAll();
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
  std::vector<MemoryFile> inputs;
  std::vector<std::string> paths;
  for (StringRef bytes : objects) {
    Result<MemoryFile> file = MemoryFile::create("object", bytes);
    if (!file)
      return file.error();
    paths.push_back(file->path());
    inputs.push_back(std::move(*file));
  }
  Needs needs = findNeeds(objects);
  if (needs.threads && !libraries->openmp)
    return Error{"code with threads needs the OpenMP runtime '" +
                 std::string(KB_OPENMP_RUNTIME) + "', which is not there"};
  if (needs.libraries) {
    paths.push_back("--as-needed");
    if (needs.threads)
      paths.push_back(libraries->openmp.path());
    if (needs.cuda && libraries->cuda)
      paths.push_back(libraries->cuda.path());
    paths.push_back(libraries->libm.path());
    paths.push_back(libraries->libc.path());
    if (libraries->builtins) {
      paths.push_back("--exclude-libs=ALL");
      paths.push_back(libraries->builtins.path());
    }
  }
  for (const std::string &path : paths)
    arguments.push_back(path.c_str());
  return runLld(arguments);
}

} // namespace kernelbrain::compile
