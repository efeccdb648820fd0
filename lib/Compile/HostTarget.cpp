//===- HostTarget.cpp - The CPU that code is made for ---------------------===//

#include "kernelbrain/Compile/HostTarget.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <algorithm>
#include <unistd.h>

using namespace llvm;

namespace kernelbrain::compile {

static bool isX86Host() {
  return Triple(sys::getDefaultTargetTriple()).isX86();
}

/// Features that a CPU's name stands for. On other architectures than x86 LLVM
/// does not tell, so that every feature is named.
static SmallVector<StringRef, 64> impliedFeatures(StringRef cpu) {
  SmallVector<StringRef, 64> features;
  if (isX86Host() && X86::parseArchX86(cpu) != X86::CK_None)
    X86::getFeaturesForCPU(cpu, features);
  return features;
}

/// Features that follow from others do not change code on their own.
static StringMap<bool> closure(ArrayRef<StringRef> features) {
  StringMap<bool> all;
  for (StringRef feature : features) {
    all[feature] = true;
    if (isX86Host())
      X86::updateImpliedFeatures(feature, /*Enabled=*/true, all);
  }
  return all;
}

/// Detection does not report a few features that every CPU has (x87): that one
/// of them is not there means nothing.
static bool isDetectable(StringRef feature) {
  static const StringMap<bool> detected = sys::getHostCPUFeatures();
  return detected.contains(feature);
}

static void readCaches(Target &target) {
  auto read = [](int name, int64_t &bytes) {
    if (long value = sysconf(name); value > 0)
      bytes = value;
  };
  read(_SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
  read(_SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
  read(_SC_LEVEL3_CACHE_SIZE, target.l3Bytes);
}

Result<Target> makeTarget(StringRef cpu) {
  Target target;
  target.kind = "host";
  readCaches(target);
  if (cpu.empty()) {
    target.chip = sys::getHostCPUName().str();
    for (const auto &feature : sys::getHostCPUFeatures())
      if (feature.second)
        target.features.push_back(feature.first().str());
  } else {
    if (isX86Host() &&
        X86::parseArchX86(cpu, /*Only64Bit=*/true) == X86::CK_None)
      return Error{"unknown CPU '" + cpu.str() + "'"};
    target.chip = cpu.str();
    for (const auto &feature : closure(impliedFeatures(cpu)))
      target.features.push_back(feature.first().str());
  }
  std::sort(target.features.begin(), target.features.end());
  return target;
}

Result<Target> makePortableTarget() {
  if (isX86Host())
    return makeTarget("x86-64");
  Target target;
  target.chip = "generic";
  readCaches(target);
  return target;
}

std::string featureString(const Target &target) {
  StringMap<bool> implied = closure(impliedFeatures(target.chip));
  StringSet<> present;
  std::vector<std::string> words;
  for (const std::string &feature : target.features) {
    present.insert(feature);
    if (!implied.contains(feature) && feature != "64bit")
      words.push_back("+" + feature);
  }
  for (const auto &feature : implied)
    if (!present.contains(feature.first()) && isDetectable(feature.first()))
      words.push_back("-" + feature.first().str());
  std::sort(words.begin(), words.end());
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ",") + word;
  return text;
}

} // namespace kernelbrain::compile
