//===- GpuNormKernel.cpp - A kernel on an emulated GPU --------------------===//

#include "GpuNormKernel.h"

#include <cstdlib>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

TemporaryFolder *GpuNormKernel::folder;
Worker *GpuNormKernel::worker;
WorkerEvaluator *GpuNormKernel::evaluator;
Manifest GpuNormKernel::manifest;
Artifact GpuNormKernel::stock, GpuNormKernel::reference;

void GpuNormKernel::SetUpTestSuite() {
  ::setenv("KB_CUDA_DRIVER", KB_EMULATED_CUDA, 1);
  folder = new TemporaryFolder;
  worker = new Worker(
      workerOptions(*folder, {"--device=cuda", "--call-deadline-ms=1500"}));
  manifest = manifestOf(normKernel(), false);
  stock = compileGpuFixture(*folder, "GpuNorm", "SLOW", manifest);
  reference = compileGpuFixture(*folder, "GpuNorm", "REFERENCE",
                                manifestOf(normKernel(), true));
  evaluator = open(*worker, reference).release();
  ASSERT_TRUE(evaluator);
}

void GpuNormKernel::TearDownTestSuite() {
  delete evaluator;
  delete worker;
  delete folder;
  ::unsetenv("KB_CUDA_DRIVER");
}

std::unique_ptr<WorkerEvaluator>
GpuNormKernel::open(Worker &worker, const Artifact &reference) {
  KernelRequest request;
  request.kernel = normKernel();
  request.seed = 17;
  request.reference = reference.path;
  request.baselines = {stock.path};
  Result<std::unique_ptr<WorkerEvaluator>> opened =
      WorkerEvaluator::open(worker, request);
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? std::move(*opened) : nullptr;
}
