"""lit configuration: tools are found in the build tree and in LLVM's bin folder."""

import ctypes
import os
import subprocess

import lit.formats

config.name = "KernelBrain"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["Inputs", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.kb_binary_root, "test")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.kb_binary_root, "bin"), config.llvm_tools_dir, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
# Nothing that a test does may leave its folder or depend on the user's.
config.environment["KB_STORE"] = os.path.join(config.test_exec_root, "store")
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%kb_plugin", os.path.join(config.kb_binary_root, "lib", "KernelBrainPlugin.so")),
    ("%examples", os.path.join(config.kb_source_root, "examples", "torch")),
    ("%llvm_lib", os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")),
    ("%source", config.kb_source_root),
    ("%build", config.kb_binary_root),
    ("%emulator", os.path.join(config.kb_binary_root, "lib", "emulator", "libcuda.so.1")),
    ("%python", config.python),
]

if config.sanitize:
    config.available_features.add("asan")
with open("/proc/cpuinfo") as cpuinfo:
    flags = next((line for line in cpuinfo if line.startswith("flags")), "").split()
for flag, feature in (("avx2", "avx2"), ("avx512f", "avx512")):
    if flag in flags:
        config.available_features.add(feature)

try:
    driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
    if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value:
        config.available_features.add("cuda")
except OSError:
    pass

# NVIDIA's assembler: without it, device images are PTX.
if any(os.path.exists(os.path.join(folder, "bin", "ptxas"))
       for folder in (os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", ""), "/usr/local/cuda")):
    config.available_features.add("ptxas")
for name in ("CUDA_HOME", "CUDA_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# A test may mount file systems where nobody else sees them.
probe = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
try:
    if subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
        config.available_features.add("mount")
except OSError:
    pass
