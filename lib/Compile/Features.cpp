//===- Features.cpp - What the code says about itself ---------------------===//

#include "Features.h"

#include "kernelbrain/Support/Hash.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kernelbrain::compile {

static int64_t vectorBytes(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getPrimitiveSizeInBits().getFixedValue() / 8 : 0;
}

Json irFeatures(const Module &module, const kernelbrain::Target &target) {
  int64_t widest = 0, streaming = 0;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      widest = std::max(widest, vectorBytes(instruction.getType()));
      for (const Use &operand : instruction.operands())
        widest = std::max(widest, vectorBytes(operand->getType()));
      if (isa<StoreInst>(instruction) &&
          instruction.hasMetadata(LLVMContext::MD_nontemporal))
        streaming = 1;
    }
  return Json{{"vector_bytes", std::min(widest, target.vectorBytes())},
              {"nt_stores", streaming}};
}

Json launchFeatures(const Json &launches) {
  int64_t threads = 0, registers = 0, shared = 0, spills = 0;
  for (const Json &launch : launches) {
    int64_t block = 1;
    for (int64_t size : launch["block"])
      block *= std::max<int64_t>(size, 1);
    auto number = [&](const char *name) {
      return getIntegerOr(launch, name, 0);
    };
    threads = std::max(threads, block);
    registers = std::max(registers, number("registers"));
    shared = std::max(shared,
                      number("shared_bytes") + number("dynamic_shared_bytes"));
    spills = std::max(spills, number("spill_bytes"));
  }
  return Json{{"launches", launches.size()},
              {"block_class", sizeClass(threads)},
              // Eighths of 64 decide how many blocks are resident.
              {"register_class", (registers + 15) / 16},
              {"shared_class", sizeClass(shared)},
              {"spill_class", sizeClass(spills)}};
}

/// The largest frame of a `.stack_sizes` section: pairs of an address and a
/// ULEB128 size.
static int64_t largestFrame(StringRef contents) {
  DataExtractor data(contents, /*IsLittleEndian=*/true, /*AddressSize=*/8);
  int64_t largest = 0;
  DataExtractor::Cursor cursor(0);
  while (cursor && cursor.tell() < contents.size()) {
    (void)data.getAddress(cursor);
    largest = std::max<int64_t>(largest, data.getULEB128(cursor));
  }
  consumeError(cursor.takeError());
  return largest;
}

static void appendRelocations(const object::SectionRef &section,
                              std::string &text) {
  for (const object::RelocationRef &relocation : section.relocations()) {
    text += '@' + std::to_string(relocation.getOffset()) + ':' +
            std::to_string(relocation.getType());
    auto symbol = relocation.getSymbol();
    Expected<StringRef> name = symbol->getName();
    if (name)
      text += *name;
    else
      consumeError(name.takeError());
  }
}

ObjectFacts objectFacts(StringRef bytes) {
  ObjectFacts facts;
  auto object =
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, "object"));
  if (!object) {
    consumeError(object.takeError());
    return facts;
  }
  std::string text;
  for (const object::SectionRef &section : (*object)->sections()) {
    Expected<StringRef> name = section.getName();
    Expected<StringRef> contents = section.getContents();
    if (!name || !contents) {
      consumeError(name.takeError());
      consumeError(contents.takeError());
      continue;
    }
    if (*name == ".stack_sizes")
      facts.frameBytes = largestFrame(*contents);
    if (section.isText())
      facts.codeBytes += contents->size();
    if (section.isText() || name->starts_with(".rodata") || section.isData()) {
      text += (*name + "\n" + *contents).str();
    } else if (name->starts_with(".rela")) {
      // ELF keeps relocations in sections of their own.
      auto target = section.getRelocatedSection();
      if (target && *target != (*object)->section_end() &&
          ((*target)->isText() || (*target)->isData()))
        appendRelocations(section, text);
    }
  }
  facts.codeHash = contentHash(text);
  return facts;
}

int64_t sizeClass(int64_t value) {
  return value <= 0 ? 0 : static_cast<int64_t>(Log2_64_Ceil(value));
}

std::string bitcodeHash(const Module &module) {
  SmallVector<char, 0> buffer;
  raw_svector_ostream stream(buffer);
  WriteBitcodeToFile(module, stream);
  return contentHash(std::string_view(buffer.data(), buffer.size()));
}

std::string hashUnnamed(Module &module, StringRef kernel) {
  std::vector<std::pair<Function *, std::string>> renamed;
  for (Function &function : module)
    if (function.getName().starts_with(kernel))
      renamed.emplace_back(&function, function.getName().str());
  // A leading digit: no other name becomes one of these.
  for (auto &[function, name] : renamed)
    function->setName("0" + name.substr(kernel.size()));
  std::string hash = bitcodeHash(module);
  for (auto &[function, name] : renamed)
    function->setName(name);
  return hash;
}

} // namespace kernelbrain::compile
