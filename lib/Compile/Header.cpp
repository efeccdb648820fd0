//===- Header.cpp - C declarations of a compiled program ------------------===//

#include "kernelbrain/Compile/Header.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

namespace kernelbrain::compile {

namespace {

const char *cType(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return "bool";
  case ElementType::I8:
    return "int8_t";
  case ElementType::I16:
    return "int16_t";
  case ElementType::I32:
    return "int32_t";
  case ElementType::I64:
  case ElementType::Index:
    return "int64_t";
  case ElementType::F16:
  case ElementType::BF16:
    return "uint16_t"; // The bits: C99 has no such type.
  case ElementType::F32:
    return "float";
  case ElementType::F64:
    return "double";
  }
  return nullptr;
}

/// `name` with what C identifiers cannot hold replaced.
std::string identifier(llvm::StringRef name) {
  std::string result = name.str();
  for (char &c : result)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  return result;
}

std::string descriptorName(const Argument &argument) {
  return "kb_memref_" + std::to_string(argument.shape.size()) + "d_" +
         toString(argument.type);
}

/// `, strided<...>` as MLIR spells it, or nothing.
std::string shownLayout(const Argument &argument) {
  if (!argument.layout)
    return "";
  auto shown = [](int64_t value) {
    return value == -1 ? std::string("?") : std::to_string(value);
  };
  return ", strided<[" +
         llvm::join(llvm::map_range(argument.layout->strides, shown), ", ") +
         "], offset: " + shown(argument.layout->offset) + ">";
}

/// As MLIR spells the type; dynamic extents by number: those of one number are
/// equal.
std::string shownType(const Argument &argument) {
  if (argument.isScalar)
    return toString(argument.type);
  std::string text = argument.layout ? "memref<" : "tensor<";
  for (int64_t extent : argument.shape)
    text += (extent < 0 ? "n" + std::to_string(-extent - 1)
                        : std::to_string(extent)) +
            "x";
  return text + toString(argument.type) + shownLayout(argument) + ">";
}

bool isPassable(const FunctionSignature &function) {
  auto passable = [](const Argument &argument) {
    return !argument.isScalar || (argument.type != ElementType::F16 &&
                                  argument.type != ElementType::BF16);
  };
  return llvm::all_of(function.arguments, passable) &&
         llvm::all_of(function.results, passable);
}

class Writer {
public:
  explicit Writer(const std::string &name) : out(text), name(name) {}

  std::string write(const Manifest &program) {
    begin();
    for (const FunctionSignature &function : program.functions)
      for (const auto *list : {&function.arguments, &function.results})
        for (const Argument &argument : *list)
          if (!argument.isScalar)
            writeDescriptor(argument);
    for (const FunctionSignature &function : program.functions)
      writeFunction(function);
    end();
    return text;
  }

private:
  std::string guard() const {
    return "KB_" + llvm::StringRef(identifier(name)).upper() + "_H";
  }
  void begin();
  void end();
  void writeDescriptor(const Argument &argument);
  void writeDenseHelper(const Argument &argument);
  void writeFunction(const FunctionSignature &function);
  void writeResults(const FunctionSignature &function, const std::string &type);
  void writeComment(const FunctionSignature &function);
  std::string parameterType(const Argument &argument) const {
    return argument.isScalar ? std::string(cType(argument.type)) + " "
                             : descriptorName(argument) + " *";
  }

  std::string text;
  llvm::raw_string_ostream out;
  std::string name;
  std::set<std::string> descriptors, identifiers;
};

void Writer::begin() {
  out << "/* " << name
      << ": written by kb-compile. Link with the library, or dlopen it.\n"
         " *\n"
         " * A buffer goes by pointer to a descriptor, which kb_dense_* makes: "
         "row-major, without\n"
         " * gaps, offset 0. What is shown with strided<[strides], offset: n> "
         "needs those (? is any): set\n"
         " * them in the descriptor. Memrefs of the module are written where "
         "it writes them; what a call\n"
         " * leaves in the buffer of a tensor that it takes is unspecified. "
         "Results go through the first\n"
         " * pointer, are the caller's, and end with free(result.allocated). "
         "Extents written n0, n1, ... are\n"
         " * chosen at the call.\n"
         " */\n"
         "#ifndef "
      << guard() << "\n#define " << guard()
      << "\n\n#include <stdbool.h>\n#include <stdint.h>\n\n"
         "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
}

void Writer::end() { out << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"; }

void Writer::writeDescriptor(const Argument &argument) {
  std::string type = descriptorName(argument);
  if (!descriptors.insert(type).second)
    return;
  size_t rank = argument.shape.size();
  std::string macro = llvm::StringRef(type).upper();
  // Headers of several programs may be included together.
  out << "\n#ifndef " << macro << "\n#define " << macro
      << "\ntypedef struct {\n"
      << "  " << cType(argument.type) << " *allocated, *aligned;\n"
      << "  int64_t offset;\n";
  if (rank > 0)
    out << "  int64_t sizes[" << rank << "], strides[" << rank << "];\n";
  out << "} " << type << ";\n\n";
  writeDenseHelper(argument);
  out << "#endif\n";
}

void Writer::writeDenseHelper(const Argument &argument) {
  size_t rank = argument.shape.size();
  std::string type = descriptorName(argument);
  out << "static inline " << type << " kb_dense_"
      << llvm::StringRef(type).substr(strlen("kb_memref_")) << "("
      << cType(argument.type) << " *data";
  for (size_t dim = 0; dim < rank; ++dim)
    out << ", int64_t size" << dim;
  out << ") {\n  " << type << " buffer;\n"
      << "  buffer.allocated = buffer.aligned = data;\n"
      << "  buffer.offset = 0;\n";
  for (size_t dim = rank; dim-- > 0;) {
    out << "  buffer.sizes[" << dim << "] = size" << dim << ";\n"
        << "  buffer.strides[" << dim << "] = ";
    if (dim + 1 == rank)
      out << "1;\n";
    else
      out << "buffer.strides[" << dim + 1 << "] * size" << dim + 1 << ";\n";
  }
  out << "  return buffer;\n}\n";
}

void Writer::writeComment(const FunctionSignature &function) {
  auto list = [&](const std::vector<Argument> &arguments) {
    out << "(";
    llvm::interleaveComma(arguments, out, [&](const Argument &argument) {
      out << shownType(argument) << (argument.onDevice ? " on the device" : "");
    });
    out << ")";
  };
  out << "\n/* " << function.name;
  list(function.arguments);
  out << " -> ";
  list(function.results);
  out << " */\n";
}

void Writer::writeResults(const FunctionSignature &function,
                          const std::string &type) {
  out << "typedef struct {\n";
  for (auto [index, result] : llvm::enumerate(function.results))
    out << "  "
        << (result.isScalar ? std::string(cType(result.type))
                            : descriptorName(result))
        << " result" << index << ";\n";
  out << "} " << type << ";\n";
}

void Writer::writeFunction(const FunctionSignature &function) {
  writeComment(function);
  if (!isPassable(function)) {
    out << "/* not declared: it takes or returns a 16-bit float by value, "
           "which "
           "C99 cannot */\n";
    return;
  }
  std::string base = identifier(function.name);
  while (!identifiers.insert(base).second)
    base += "_";
  std::string returned = "void";
  llvm::SmallVector<std::string> parameters;
  if (function.results.size() == 1) {
    const Argument &result = function.results.front();
    if (result.isScalar)
      returned = cType(result.type);
    else
      parameters.push_back(descriptorName(result) + " *result");
  } else if (function.results.size() > 1) {
    std::string type = "kb_results_" + base;
    writeResults(function, type);
    parameters.push_back(type + " *results");
  }
  for (auto [index, argument] : llvm::enumerate(function.arguments))
    parameters.push_back(parameterType(argument) + "arg" +
                         std::to_string(index));
  out << returned << " _mlir_ciface_" << base << "("
      << (parameters.empty() ? "void" : llvm::join(parameters, ", ")) << ")";
  if (base != function.name) {
    out << " __asm__(\"_mlir_ciface_";
    for (char c : function.name)
      out << (c == '"' || c == '\\' ? "\\" : "") << c;
    out << "\")";
  }
  out << ";\n";
}

} // namespace

std::string writeHeader(const Manifest &program, const std::string &name) {
  return Writer(name).write(program);
}

} // namespace kernelbrain::compile
