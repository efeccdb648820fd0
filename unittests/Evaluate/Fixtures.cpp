//===- Fixtures.cpp - Artifacts compiled from C for tests -----------------===//

#include "Fixtures.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kernelbrain::evaluate {

Artifact compileFixture(const TemporaryFolder &folder,
                        const std::string &source, const std::string &variant,
                        const Manifest &manifest, const std::string &flags) {
  std::string stem =
      folder.path + "/" + source + (variant.empty() ? "" : "-" + variant);
  // A JSON string's escapes are those of a C string.
  std::ofstream(stem + "-manifest.c")
      << "__attribute__((visibility(\"default\"))) const char kb_manifest[] = "
      << dumpJson(Json(dumpJson(toJson(manifest)))) << ";\n";
  std::string command = std::string(KB_TEST_C_COMPILER) +
                        " -O2 -shared -fPIC -fvisibility=hidden -w " +
                        (variant.empty() ? "" : "-D" + variant + " ") + "-o " +
                        stem + ".so " + KB_FIXTURES_DIR "/" + source + ".c " +
                        stem + "-manifest.c -lm " + flags;
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "failed: %s\n", command.c_str());
    std::abort();
  }
  return {stem + ".so", manifest};
}

Artifact compileGpuFixture(const TemporaryFolder &folder,
                           const std::string &source,
                           const std::string &variant, Manifest manifest) {
  manifest.target = {{"kind", "cuda"}, {"chip", "emulated"}};
  std::string image = folder.path + "/" + source + variant + "-image.so";
  std::string command =
      std::string(KB_TEST_C_COMPILER) +
      " -O2 -shared -fPIC -fvisibility=hidden -w -DDEVICE_IMAGE " +
      (variant.empty() ? "" : "-D" + variant + " ") +
      "-I" KB_INCLUDE_DIR " -o " + image + " " KB_FIXTURES_DIR "/" + source +
      ".c -lm";
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "failed: %s\n", command.c_str());
    std::abort();
  }
  return compileFixture(folder, source, variant, manifest,
                        "-I" KB_INCLUDE_DIR " -DIMAGE='\"" + image +
                            "\"' " KB_CUDA_RUNTIME);
}

static Argument tensor(ElementType type, std::vector<int64_t> shape,
                       bool isOutput) {
  Argument argument;
  argument.type = type;
  argument.shape = std::move(shape);
  argument.isOutput = isOutput;
  return argument;
}

Kernel normKernel() {
  Kernel kernel;
  kernel.name = "norm";
  kernel.kind = "row-reduction";
  kernel.arguments = {tensor(ElementType::F32, {-1, 96}, false),
                      tensor(ElementType::F32, {96}, false),
                      tensor(ElementType::F32, {-1, 96}, true)};
  kernel.dimHints = {64};
  return kernel;
}

Kernel gatherKernel() {
  Kernel kernel;
  kernel.name = "gather";
  kernel.kind = "gather";
  kernel.arguments = {tensor(ElementType::F32, {50}, false),
                      tensor(ElementType::I64, {40}, false),
                      tensor(ElementType::F32, {40}, true)};
  kernel.arguments[1].domain.low = 0;
  kernel.arguments[1].domain.high = 50;
  kernel.asserts = true;
  return kernel;
}

Manifest manifestOf(const Kernel &kernel, bool promoted) {
  Manifest manifest;
  manifest.kind = "kernel";
  manifest.entry = kernel.name;
  manifest.arguments = kernel.arguments;
  manifest.dims = int64_t(kernel.dimHints.size());
  if (promoted)
    for (Argument &argument : manifest.arguments)
      if (isFloat(argument.type))
        argument.type = ElementType::F64;
  return manifest;
}

Manifest programManifest(bool promoted, bool onMemrefs) {
  ElementType real = promoted ? ElementType::F64 : ElementType::F32;
  Argument matrix = tensor(real, {-1, 33}, false), factor;
  matrix.isMemref = onMemrefs;
  factor.type = real;
  factor.isScalar = true;
  FunctionSignature scale, first;
  scale.name = "scale";
  scale.arguments = {matrix, factor};
  scale.results = {matrix, tensor(ElementType::I64, {-1}, false)};
  first.name = "first";
  first.arguments = {matrix};
  first.results = {matrix};
  Manifest manifest;
  manifest.kind = "program";
  manifest.functions = {scale, first};
  return manifest;
}

WorkerOptions workerOptions(const TemporaryFolder &folder,
                            std::vector<std::string> arguments) {
  WorkerOptions options;
  options.program = KB_WORKER_PATH;
  options.arguments = std::move(arguments);
  options.arguments.push_back("--lease-file=" + folder.path + "/lease");
  return options;
}

Measurement timeQuietly(WorkerEvaluator &evaluator, const Artifact &artifact,
                        const Artifact &against, search::Effort effort) {
  Measurement measurement;
  for (int attempt = 0; attempt < 8; ++attempt) {
    Result<Measurement> timed = evaluator.time(artifact, against, effort);
    EXPECT_TRUE(timed) << timed.error().message;
    if (!timed)
      break;
    measurement = *timed;
    if (measurement.disposition != Disposition::Unstable)
      break;
  }
  return measurement;
}

} // namespace kernelbrain::evaluate
