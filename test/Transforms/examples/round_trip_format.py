"""The lit format of this folder: one test for each file of examples/torch."""

import os
import subprocess
import sys

import lit.formats
import lit.Test


def examples_of(config):
    return os.path.join(config.kb_source_root, "examples", "torch")


class RoundTrip(lit.formats.TestFormat):
    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        for name in sorted(os.listdir(examples_of(localConfig))):
            if name.endswith(".mlir"):
                yield lit.Test.Test(testSuite, path_in_suite + (name,), localConfig)

    def execute(self, test, litConfig):
        name = test.path_in_suite[-1]
        folder = os.path.join(test.suite.exec_root, *test.path_in_suite[:-1], "Output", name)
        os.makedirs(folder, exist_ok=True)
        script = os.path.join(test.suite.source_root, *test.path_in_suite[:-1], "round_trip.py")
        run = subprocess.run([sys.executable, script, os.path.join(examples_of(test.config), name), folder],
                             env=test.config.environment, capture_output=True, text=True)
        code = lit.Test.PASS if run.returncode == 0 else lit.Test.FAIL
        return lit.Test.Result(code, run.stdout + run.stderr)

