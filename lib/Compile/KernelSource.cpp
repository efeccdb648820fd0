//===- KernelSource.cpp - Reading kernels and their payloads --------------===//

#include "kernelbrain/Compile/VariantBuilder.h"

#include "Payload.h"
#include "kernelbrain/Strategy/Stock.h"
#include "kernelbrain/Transforms/KernelText.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace kernelbrain::compile {

//===----------------------------------------------------------------------===//
// Payloads
//===----------------------------------------------------------------------===//

ReadPayload readPayload(const KernelSource &kernel, StringRef text,
                        const Toolchain &toolchain) {
  kb::KernelOp original = kernel.op;
  std::string diagnostic;
  ScopedDiagnosticHandler handler(
      original.getContext(),
      [&](Diagnostic &found) { return keepFirstError(found, diagnostic); });
  ReadPayload result;
  OwningOpRef<ModuleOp> module = parsePayload(text, original);
  if (!module) {
    result.disposition = Disposition::InvalidRecipe;
    result.reason =
        diagnostic.empty() ? "the payload is not legal" : diagnostic;
    return result;
  }
  kb::KernelOp payload = *module->getOps<kb::KernelOp>().begin();
  result.disposition = Disposition::Passed;
  result.text = printKernelText(payload);
  std::string mismatch;
  for (const strategy::Strategy &strategy : toolchain.strategies)
    if (auto match = strategy.match(payload, toolchain.target, mismatch))
      result.spaces.push_back(match->space());
  result.spaces.push_back(strategy::stockSpace());
  return result;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Result<KernelSource> parseKernelSource(StringRef text, MLIRContext &context) {
  std::string diagnostic;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &found) {
    if (diagnostic.empty())
      diagnostic = found.str();
    return success();
  });
  KernelSource source;
  source.module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!source.module)
    return Error{diagnostic};
  unsigned count = 0;
  source.module->walk([&](kb::KernelOp op) {
    source.op = op;
    ++count;
  });
  if (count != 1)
    return Error{"expected one kb.kernel, found " + std::to_string(count)};
  FailureOr<Kernel> description = describeKernel(source.op);
  if (failed(description))
    return Error{diagnostic};
  source.description = std::move(*description);
  return std::move(source);
}

} // namespace kernelbrain::compile
