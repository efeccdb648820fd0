//===- GpuNormKernel.h - A kernel on an emulated GPU ------------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_EVALUATE_GPUNORMKERNEL_H
#define KERNELBRAIN_UNITTESTS_EVALUATE_GPUNORMKERNEL_H

#include "Fixtures.h"

#include "kernelbrain/Evaluate/Client/WorkerEvaluator.h"

#include <gtest/gtest.h>

namespace kernelbrain::evaluate {

/// One worker with the kernel of GpuNorm.c open, for all tests.
class GpuNormKernel : public testing::Test {
protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  static std::unique_ptr<WorkerEvaluator> open(Worker &worker,
                                               const Artifact &reference);
  static Artifact variant(const char *name) {
    return compileGpuFixture(*folder, "GpuNorm", name, manifest);
  }
  Measurement check(const char *name) {
    Result<Measurement> measurement = evaluator->check(variant(name));
    EXPECT_TRUE(measurement) << measurement.error().message;
    return measurement ? *measurement : Measurement();
  }

  static TemporaryFolder *folder;
  static Worker *worker;
  static WorkerEvaluator *evaluator;
  static Manifest manifest;
  static Artifact stock, reference;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_UNITTESTS_EVALUATE_GPUNORMKERNEL_H
