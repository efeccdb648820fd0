//===- Payload.cpp - Rewritten kernel bodies ------------------------------===//

#include "Payload.h"

#include "kernelbrain/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kernelbrain::compile {

constexpr size_t maxPayloadBytes = 256 << 10;
constexpr int64_t maxPayloadOperations = 4000;

static bool isAllowed(Operation *op) {
  static const llvm::StringSet<> dialects = {"arith", "index", "linalg",
                                             "math",  "scf",   "tensor"};
  return isa<ModuleOp, kb::KernelOp, kb::YieldOp, cf::AssertOp>(op) ||
         dialects.contains(op->getName().getDialectNamespace());
}

static LogicalResult checkOperations(ModuleOp module) {
  int64_t count = 0;
  WalkResult result = module.walk([&](Operation *op) {
    if (!isAllowed(op)) {
      op->emitError("operation '")
          << op->getName() << "' is not allowed in a payload";
      return WalkResult::interrupt();
    }
    if (++count > maxPayloadOperations) {
      op->emitError("payload has more than ")
          << maxPayloadOperations << " operations";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Strategies match what kb-normalize makes, and it works on functions.
static LogicalResult normalize(kb::KernelOp payload) {
  OpBuilder builder(payload.getContext());
  Location loc = payload.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  Operation *yield = payload.getYield();
  auto function = func::FuncOp::create(
      builder, loc, payload.getSymName(),
      builder.getFunctionType(payload.getBody().getArgumentTypes(),
                              yield->getOperandTypes()));
  function.getBody().takeBody(payload.getBody());
  builder.setInsertionPoint(yield);
  func::ReturnOp::create(builder, loc, yield->getOperands());
  yield->erase();
  PassManager passes(payload.getContext());
  passes.addPass(createNormalizePass());
  LogicalResult normalized = passes.run(*module);
  Operation *end = function.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  kb::YieldOp::create(builder, loc, end->getOperands());
  end->erase();
  payload.getBody().takeBody(function.getBody());
  return normalized;
}

OwningOpRef<ModuleOp> parsePayload(StringRef text, kb::KernelOp kernel) {
  if (text.size() > maxPayloadBytes) {
    emitError(kernel.getLoc(), "payload has ")
        << text.size() << " bytes, more than " << maxPayloadBytes;
    return {};
  }
  // Verifiers run on operations that payloads may have, and on no others.
  ParserConfig config(kernel.getContext(), /*verifyAfterParse=*/false);
  auto module = parseSourceString<ModuleOp>(text, config, "payload");
  if (!module || failed(checkOperations(*module)) || failed(verify(*module)))
    return {};
  auto payloads = llvm::to_vector(module->getOps<kb::KernelOp>());
  if (payloads.size() != 1 || !llvm::hasSingleElement(*module->getBody())) {
    module->emitError("expected one kb.kernel and nothing else");
    return {};
  }
  kb::KernelOp payload = payloads.front();
  if (payload.getNumInputs() != kernel.getNumInputs() ||
      payload.getBody().getArgumentTypes() !=
          kernel.getBody().getArgumentTypes()) {
    payload.emitError("expected the kernel's arguments (")
        << kernel.getBody().getArgumentTypes() << ") with "
        << kernel.getNumInputs() << " inputs, found ("
        << payload.getBody().getArgumentTypes() << ") with "
        << payload.getNumInputs();
    return {};
  }
  payload->setAttrs(kernel->getAttrDictionary());
  if (failed(normalize(payload)))
    return {};
  return module;
}

LogicalResult keepFirstError(Diagnostic &found, std::string &first) {
  if (found.getSeverity() != DiagnosticSeverity::Error || !first.empty())
    return success();
  first = found.str();
  if (auto place = dyn_cast<FileLineColLoc>(found.getLocation());
      place && place.getFilename() == "payload")
    first = "payload:" + std::to_string(place.getLine()) + ":" +
            std::to_string(place.getColumn()) + ": " + first;
  return success();
}

} // namespace kernelbrain::compile
