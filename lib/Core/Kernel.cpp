//===- Kernel.cpp - What plain code knows of a kernel ---------------------===//

#include "kernelbrain/Core/Kernel.h"

#include "kernelbrain/Support/JsonReader.h"

namespace kernelbrain {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

const char *toString(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return "i1";
  case ElementType::I8:
    return "i8";
  case ElementType::I16:
    return "i16";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  case ElementType::Index:
    return "index";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  }
  return "";
}

std::optional<ElementType> elementTypeFromString(const std::string &text) {
  for (ElementType type :
       {ElementType::I1, ElementType::I8, ElementType::I16, ElementType::I32,
        ElementType::I64, ElementType::Index, ElementType::F16,
        ElementType::BF16, ElementType::F32, ElementType::F64})
    if (text == toString(type))
      return type;
  return std::nullopt;
}

int64_t byteSize(ElementType type) {
  switch (type) {
  case ElementType::I1:
  case ElementType::I8:
    return 1;
  case ElementType::I16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::F32:
    return 4;
  case ElementType::I64:
  case ElementType::Index:
  case ElementType::F64:
    return 8;
  }
  return 0;
}

bool isFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::F32 || type == ElementType::F64;
}

bool fitsDense(const Argument &argument, const std::vector<int64_t> &extents) {
  if (!argument.layout)
    return true;
  if (argument.layout->offset > 0)
    return false;
  int64_t dense = 1;
  for (size_t k = extents.size(); k-- > 0; dense *= extents[k]) {
    int64_t stride = argument.layout->strides[k];
    if (stride != -1 && stride != dense && extents[k] > 1)
      return false;
  }
  return true;
}

static Result<ElementType> elementTypeFromJson(const Json &json) {
  if (json.is_string())
    if (std::optional<ElementType> type =
            elementTypeFromString(json.get<std::string>()))
      return *type;
  return Error{"unknown element type " + dumpJson(json)};
}

//===----------------------------------------------------------------------===//
// JSON forms
//===----------------------------------------------------------------------===//

static Json toJson(const Domain &domain) {
  Json json = Json::object();
  if (domain.low)
    json["low"] = jsonNumber(*domain.low);
  if (domain.high)
    json["high"] = jsonNumber(*domain.high);
  return json;
}

static Result<Domain> domainFromJson(const Json &json) {
  Domain domain;
  JsonReader reader(json, "domain");
  reader.optional("low", domain.low).optional("high", domain.high);
  if (Status status = reader.status(); !status)
    return status.error();
  return domain;
}

static Result<Layout> layoutFromJson(const Json &json) {
  Layout layout;
  JsonReader reader(json, "layout");
  reader.required("strides", layout.strides).required("offset", layout.offset);
  if (Status status = reader.status(); !status)
    return status.error();
  return layout;
}

Json toJson(const Argument &argument) {
  Json json = {
      {"is_output", argument.isOutput},    {"is_scalar", argument.isScalar},
      {"type", toString(argument.type)},   {"shape", argument.shape},
      {"domain", toJson(argument.domain)}, {"alignment", argument.alignment}};
  if (argument.onDevice)
    json["on_device"] = true;
  if (argument.isMemref)
    json["is_memref"] = true;
  if (argument.layout)
    json["layout"] = {{"strides", argument.layout->strides},
                      {"offset", argument.layout->offset}};
  return json;
}

Result<Argument> argumentFromJson(const Json &json) {
  Argument argument;
  JsonReader reader(json, "argument");
  reader.optional("is_output", argument.isOutput)
      .optional("is_scalar", argument.isScalar)
      .optional("on_device", argument.onDevice)
      .optional("is_memref", argument.isMemref)
      .optional("layout", argument.layout, layoutFromJson)
      .required("type", argument.type, elementTypeFromJson)
      .required("shape", argument.shape)
      .optional("domain", argument.domain, domainFromJson)
      .optional("alignment", argument.alignment);
  if (Status status = reader.status(); !status)
    return status.error();
  if (argument.layout &&
      argument.layout->strides.size() != argument.shape.size())
    return Error{"argument: the layout is of another rank than the shape"};
  return argument;
}

Json toJson(const Numerics &numerics) {
  return {{"reassociate", numerics.reassociate},
          {"contract", numerics.contract},
          {"narrow_f64_intermediates", numerics.narrowF64Intermediates},
          {"skip_intermediate_rounding", numerics.skipIntermediateRounding},
          {"approx_math", numerics.approxMath},
          {"tf32", numerics.tf32},
          {"deterministic", numerics.deterministic}};
}

Result<Numerics> numericsFromJson(const Json &json) {
  Numerics numerics;
  JsonReader reader(json, "numerics");
  reader.optional("reassociate", numerics.reassociate)
      .optional("contract", numerics.contract)
      .optional("narrow_f64_intermediates", numerics.narrowF64Intermediates)
      .optional("skip_intermediate_rounding", numerics.skipIntermediateRounding)
      .optional("approx_math", numerics.approxMath)
      .optional("tf32", numerics.tf32)
      .optional("deterministic", numerics.deterministic);
  if (Status status = reader.status(); !status)
    return status.error();
  return numerics;
}

Json toJson(const Kernel &kernel) {
  Json arguments = Json::array();
  for (const Argument &argument : kernel.arguments)
    arguments.push_back(toJson(argument));
  return {{"name", kernel.name},
          {"hash", kernel.hash},
          {"kind", kernel.kind},
          {"arguments", std::move(arguments)},
          {"dim_hints", kernel.dimHints},
          {"numerics", toJson(kernel.numerics)},
          {"flops", jsonNumber(kernel.flops)},
          {"boundary_bytes", kernel.boundaryBytes},
          {"share", jsonNumber(kernel.share)},
          {"asserts", kernel.asserts}};
}

Result<Kernel> kernelFromJson(const Json &json) {
  Kernel kernel;
  JsonReader reader(json, "kernel");
  reader.required("name", kernel.name)
      .optional("hash", kernel.hash)
      .optional("kind", kernel.kind)
      .elements("arguments", kernel.arguments, argumentFromJson)
      .optional("dim_hints", kernel.dimHints)
      .optional("numerics", kernel.numerics, numericsFromJson)
      .optional("flops", kernel.flops)
      .optional("boundary_bytes", kernel.boundaryBytes)
      .optional("share", kernel.share)
      .optional("asserts", kernel.asserts);
  if (Status status = reader.status(); !status)
    return status.error();
  return kernel;
}

} // namespace kernelbrain
