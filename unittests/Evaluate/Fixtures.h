//===- Fixtures.h - Artifacts compiled from C for tests ---------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_EVALUATE_FIXTURES_H
#define KERNELBRAIN_UNITTESTS_EVALUATE_FIXTURES_H

#include "Testing/TemporaryFolder.h"

#include "kernelbrain/Core/Artifact.h"
#include "kernelbrain/Evaluate/Client/WorkerEvaluator.h"

#include <string>
#include <vector>

namespace kernelbrain::evaluate {

/// Compiles Fixtures/<source>.c with the macro `variant` defined (if not empty)
/// and the manifest inside; returns the artifact. Aborts the test program if
/// the compiler fails.
Artifact compileFixture(const TemporaryFolder &folder,
                        const std::string &source, const std::string &variant,
                        const Manifest &manifest,
                        const std::string &flags = "");
/// The same for the emulated GPU: the device image first, then the host
/// function that holds it.
Artifact compileGpuFixture(const TemporaryFolder &folder,
                           const std::string &source,
                           const std::string &variant, Manifest manifest);

/// The kernels of Norm.c and Gather.c and their manifests; with `promoted`, of
/// the f64 reference.
Kernel normKernel();
Kernel gatherKernel();
Manifest manifestOf(const Kernel &kernel, bool promoted);
/// The program of Program.c; with `promoted`, of its f64 reference.
Manifest programManifest(bool promoted = false, bool onMemrefs = false);

/// Options for a worker whose timing lease is the test's own.
WorkerOptions workerOptions(const TemporaryFolder &folder,
                            std::vector<std::string> arguments = {});

/// Timing on a machine that others use may be Unstable: then it is repeated, as
/// the search does.
Measurement timeQuietly(WorkerEvaluator &evaluator, const Artifact &artifact,
                        const Artifact &against, search::Effort effort);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_UNITTESTS_EVALUATE_FIXTURES_H
