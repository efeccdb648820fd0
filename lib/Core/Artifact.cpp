//===- Artifact.cpp - Built code and its manifest -------------------------===//

#include "kernelbrain/Core/Artifact.h"

#include "kernelbrain/Support/JsonReader.h"

namespace kernelbrain {

static Json argumentsToJson(const std::vector<Argument> &arguments) {
  Json json = Json::array();
  for (const Argument &argument : arguments)
    json.push_back(toJson(argument));
  return json;
}

static Json toJson(const FunctionSignature &signature) {
  return {{"name", signature.name},
          {"arguments", argumentsToJson(signature.arguments)},
          {"results", argumentsToJson(signature.results)}};
}

static Result<FunctionSignature> signatureFromJson(const Json &json) {
  FunctionSignature signature;
  JsonReader reader(json, "function");
  reader.required("name", signature.name)
      .elements("arguments", signature.arguments, argumentFromJson)
      .elements("results", signature.results, argumentFromJson);
  if (Status status = reader.status(); !status)
    return status.error();
  return signature;
}

Json toJson(const Manifest &manifest) {
  Json functions = Json::array();
  for (const FunctionSignature &signature : manifest.functions)
    functions.push_back(toJson(signature));
  Json json = {{"kind", manifest.kind},
               {"entry", manifest.entry},
               {"arguments", argumentsToJson(manifest.arguments)},
               {"dims", manifest.dims},
               {"workspace_bytes", manifest.workspaceBytes},
               {"functions", std::move(functions)},
               {"libraries", manifest.libraries},
               {"target", manifest.target},
               {"recipe", manifest.recipe},
               {"features", manifest.features},
               {"ir_hash", manifest.irHash},
               {"code_hash", manifest.codeHash}};
  if (!manifest.launches.empty())
    json["launches"] = manifest.launches;
  return json;
}

Result<Manifest> manifestFromJson(const Json &json) {
  Manifest manifest;
  JsonReader reader(json, "manifest");
  reader.required("kind", manifest.kind);
  bool isKernel = manifest.kind == "kernel";
  if (!isKernel && manifest.kind != "program")
    reader.fail("kind must be \"kernel\" or \"program\", found \"" +
                manifest.kind + "\"");
  if (isKernel)
    reader.required("entry", manifest.entry);
  else
    reader.optional("entry", manifest.entry);
  reader.elements("arguments", manifest.arguments, argumentFromJson, isKernel)
      .optional("dims", manifest.dims)
      .optional("workspace_bytes", manifest.workspaceBytes)
      .elements("functions", manifest.functions, signatureFromJson, !isKernel)
      .optional("libraries", manifest.libraries)
      .optional("target", manifest.target)
      .optional("recipe", manifest.recipe)
      .optional("features", manifest.features)
      .optional("launches", manifest.launches)
      .optional("ir_hash", manifest.irHash)
      .optional("code_hash", manifest.codeHash);
  if (Status status = reader.status(); !status)
    return status.error();
  return manifest;
}

} // namespace kernelbrain
