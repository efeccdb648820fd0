//===- DeviceCode.h - LLVM IR to an image for an NVIDIA GPU -----*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_DEVICECODE_H
#define KERNELBRAIN_COMPILE_DEVICECODE_H

#include "kernelbrain/Compile/Codegen.h"
#include "kernelbrain/Core/Measurement.h"
#include "kernelbrain/Support/Json.h"

namespace kernelbrain::compile {

/// Where NVIDIA's toolkit is. All of it is optional.
struct CudaToolkit {
  std::string ptxas;              ///< path of the program
  unsigned ptxVersion = 0;        ///< newest that it takes; 87: 8.7
  std::vector<std::string> chips; ///< that it knows
  std::string libdevice;          ///< bitcode

  /// Looks in CUDA_HOME, CUDA_PATH and /usr/local/cuda*; for ptxas also in
  /// PATH.
  static CudaToolkit find();
};

/// What became of PTX.
struct DeviceImage {
  Disposition disposition = Disposition::BuildFailed; ///< Passed: it is there
  std::string reason;
  std::string bytes; ///< a cubin; or PTX with a zero byte at its end
  /// Of each function of a cubin by name: registers, shared_bytes, spill_bytes,
  /// stack_bytes.
  Json functions = Json::object();
  std::string report; ///< what ptxas printed
};

/// Turns modules of LLVM IR for one GPU into images.
class DeviceCodeGenerator {
public:
  static Result<std::unique_ptr<DeviceCodeGenerator>>
  create(const Target &target, CudaToolkit toolkit = CudaToolkit::find());

  /// The program that assemble() starts; empty if there is none for this GPU,
  /// and images are PTX.
  const std::string &assembler() const { return ptxas; }

  /// LLVM's: the version of PTX.
  std::string features() const { return "+ptx" + std::to_string(ptxVersion); }

  /// Links what the module needs of libdevice. The error names what is missing.
  Status link(llvm::Module &module) const;
  /// Of a linked module; prepared and optimised at O3 on the way.
  Result<std::string> emitPtx(llvm::Module &module) const;
  /// Runs ptxas for `deadlineMs` at most. What it cannot translate, or only by
  /// giving up what the code is about, has another disposition than Passed.
  DeviceImage assemble(llvm::StringRef ptx, int deadlineMs = 60000) const;

private:
  DeviceCodeGenerator() = default;
  std::string chip, ptxas, libdevice;
  unsigned ptxVersion = 0;
  std::unique_ptr<CodeGenerator> generator;
};

/// The first line of ptxas's report that tells of code that lost what it is
/// about; empty if there is none.
std::string findLoss(llvm::StringRef report);

/// Reads ptxas's report on functions for DeviceImage::functions.
Json parsePtxasReport(llvm::StringRef report);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_DEVICECODE_H
