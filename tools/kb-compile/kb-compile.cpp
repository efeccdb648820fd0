//===- kb-compile.cpp - The compile child ---------------------------------===//
//
//   kb-compile IN.mlir -o OUT.so [--header=OUT.h] [--target-cpu=NAME]
//              [--promote-floats]
//   kb-compile --serve [--jobs=N] [--memory-limit=4G] [--deadline-seconds=N]
//   kb-compile --emit=lowered|verified|optimized|assembly|artifact|
//                     implementation|static KERNEL
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <csignal>

using namespace kernelbrain;

constexpr llvm::StringLiteral usage =
    R"(kb-compile IN.mlir -o OUT.so [--header=OUT.h] [--target-cpu=NAME]
           [--promote-floats]
    Compiles a module of any emission level; '-' is standard input. With
    --promote-floats every float type becomes f64: a reference for its results.
kb-compile --serve [--jobs=N] [--memory-limit=4G] [--deadline-seconds=N] [--threads=N]
           [--target=cuda --chip=sm_90a]
    Builds variants for kb-opt (docs/Protocols.md).
kb-compile --emit=lowered|verified|optimized|assembly|artifact|implementation|static
           KERNEL.mlir [--recipe=JSON] [--target-cpu=NAME] [--threads=N]
           [--target=cuda --chip=sm_90a]
    Shows what one kernel becomes.
)";

int main(int argc, char **argv) {
  std::signal(SIGXFSZ, SIG_IGN); // Writing fails instead, and says where.
  auto given = [&](llvm::StringRef name) {
    return std::any_of(argv + 1, argv + argc, [&](llvm::StringRef word) {
      return word == name || word.starts_with(name.str() + "=");
    });
  };
  if (given("--help") || given("-h")) {
    llvm::outs() << usage;
    return 0;
  }
  if (given("--serve"))
    return tool::serveMain(argc, argv);
  if (given("--emit"))
    return tool::emitMain(argc, argv);
  return tool::aotMain(argc, argv);
}
