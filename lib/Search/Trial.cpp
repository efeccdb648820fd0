//===- Trial.cpp - What became of one ticket ------------------------------===//

#include "kernelbrain/Search/Trial.h"

#include "kernelbrain/Support/JsonReader.h"

namespace kernelbrain::search {

Json toJson(const Event &event) {
  Json json = event.data.is_object() ? event.data : Json::object();
  json["type"] = event.type;
  return json;
}

Result<Event> eventFromJson(const Json &json) {
  Result<std::string> type = getString(json, "type");
  if (!type)
    return type.error();
  Event event{*type, json};
  event.data.erase("type");
  return event;
}

const char *toString(BuildOutput output) {
  switch (output) {
  case BuildOutput::Static:
    return "static";
  case BuildOutput::Artifact:
    return "artifact";
  case BuildOutput::Verified:
    return "verified";
  case BuildOutput::Implementation:
    return "implementation";
  }
  return "";
}

const char *toString(StepKind kind) {
  switch (kind) {
  case StepKind::Seed:
    return "seed";
  case StepKind::Small:
    return "small";
  case StepKind::Large:
    return "large";
  case StepKind::Repair:
    return "repair";
  }
  return "";
}

std::optional<StepKind> stepKindFromString(const std::string &text) {
  for (StepKind kind :
       {StepKind::Seed, StepKind::Small, StepKind::Large, StepKind::Repair})
    if (text == toString(kind))
      return kind;
  return std::nullopt;
}

static Result<StepKind> stepKindFromJson(const Json &json) {
  if (json.is_string())
    if (std::optional<StepKind> kind =
            stepKindFromString(json.get<std::string>()))
      return *kind;
  return Error{"unknown step " + dumpJson(json)};
}

//===----------------------------------------------------------------------===//
// JSON forms
//===----------------------------------------------------------------------===//

static Json toJson(const TrialCosts &costs) {
  return {{"static_ns", costs.staticNs},    {"build_ns", costs.buildNs},
          {"check_ns", costs.checkNs},      {"quick_ns", costs.quickNs},
          {"full_ns", costs.fullNs},        {"profile_ns", costs.profileNs},
          {"wall_ns", costs.wallNs},        {"tokens", costs.tokens},
          {"micro_money", costs.microMoney}};
}

static Result<TrialCosts> costsFromJson(const Json &json) {
  TrialCosts costs;
  JsonReader reader(json, "costs");
  reader.required("static_ns", costs.staticNs)
      .required("build_ns", costs.buildNs)
      .required("check_ns", costs.checkNs)
      .required("quick_ns", costs.quickNs)
      .required("full_ns", costs.fullNs)
      .optional("profile_ns", costs.profileNs)
      .required("wall_ns", costs.wallNs)
      .required("tokens", costs.tokens)
      .required("micro_money", costs.microMoney);
  if (Status status = reader.status(); !status)
    return status.error();
  return costs;
}

Json toJson(const Trial &trial) {
  return {{"kernel", trial.kernel},
          {"ticket", trial.ticket},
          {"parent", trial.parent},
          {"step", toString(trial.step)},
          {"proposer", trial.proposer},
          {"rationale", trial.rationale},
          {"fallback", trial.fallback},
          {"recipe", toJson(trial.recipe)},
          {"measurement", toJson(trial.measurement)},
          {"incumbent", trial.incumbent},
          {"cell", trial.cell},
          {"features", trial.features},
          {"ir_hash", trial.irHash},
          {"code_hash", trial.codeHash},
          {"artifact", trial.artifact},
          {"duplicate_of", trial.duplicateOf},
          {"inert_knobs", trial.inertKnobs},
          {"faults", trial.faults},
          {"costs", toJson(trial.costs)}};
}

Result<Trial> trialFromJson(const Json &json) {
  Trial trial;
  JsonReader reader(json, "trial");
  reader.required("kernel", trial.kernel)
      .required("ticket", trial.ticket)
      .required("parent", trial.parent)
      .required("step", trial.step, stepKindFromJson)
      .required("proposer", trial.proposer)
      .required("rationale", trial.rationale)
      .required("fallback", trial.fallback)
      .required("recipe", trial.recipe, recipeFromJson)
      .required("measurement", trial.measurement, measurementFromJson)
      .required("incumbent", trial.incumbent)
      .required("cell", trial.cell)
      .required("features", trial.features)
      .required("ir_hash", trial.irHash)
      .required("code_hash", trial.codeHash)
      .required("artifact", trial.artifact)
      .required("duplicate_of", trial.duplicateOf)
      .required("inert_knobs", trial.inertKnobs)
      .required("faults", trial.faults)
      .required("costs", trial.costs, costsFromJson);
  if (Status status = reader.status(); !status)
    return status.error();
  return trial;
}

Json toJson(const BaselineRecord &record) {
  return {{"kernel", record.kernel},
          {"recipe", toJson(record.recipe)},
          {"measurement", toJson(record.measurement)},
          {"artifact", record.artifact},
          {"setup_ns", record.setupNs},
          {"skipped", record.skipped}};
}

Result<BaselineRecord> baselineFromJson(const Json &json) {
  BaselineRecord record;
  JsonReader reader(json, "baseline");
  reader.required("kernel", record.kernel)
      .required("recipe", record.recipe, recipeFromJson)
      .required("measurement", record.measurement, measurementFromJson)
      .required("artifact", record.artifact)
      .required("setup_ns", record.setupNs)
      .required("skipped", record.skipped);
  if (Status status = reader.status(); !status)
    return status.error();
  return record;
}

Json toJson(const AcceptanceRecord &record) {
  return {{"kernel", record.kernel},
          {"ticket", record.ticket},
          {"recipe", toJson(record.recipe)},
          {"measurement", toJson(record.measurement)},
          {"artifact", record.artifact},
          {"wall_ns", record.wallNs}};
}

Result<AcceptanceRecord> acceptanceFromJson(const Json &json) {
  AcceptanceRecord record;
  JsonReader reader(json, "acceptance");
  reader.required("kernel", record.kernel)
      .required("ticket", record.ticket)
      .required("recipe", record.recipe, recipeFromJson)
      .required("measurement", record.measurement, measurementFromJson)
      .required("artifact", record.artifact)
      .required("wall_ns", record.wallNs);
  if (Status status = reader.status(); !status)
    return status.error();
  return record;
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

Status Recording::add(const Event &event) {
  if (event.type == "trial") {
    Result<Trial> trial = trialFromJson(event.data);
    if (!trial)
      return trial.error();
    Key key{trial->kernel, trial->ticket};
    // In flight when that run stopped, or turned down at rung 0: free to judge.
    if (trial->measurement.disposition == Disposition::NotRun)
      byTicket.erase(key);
    else
      byTicket[key] = std::move(*trial);
  } else if (event.type == "baseline") {
    Result<BaselineRecord> record = baselineFromJson(event.data);
    if (!record)
      return record.error();
    baselines[record->kernel] = std::move(*record);
  } else if (event.type == "accepted" || event.type == "rolled_back") {
    Result<AcceptanceRecord> record = acceptanceFromJson(event.data);
    if (!record)
      return record.error();
    Key key{record->kernel, record->ticket};
    acceptances[key] = std::move(*record);
  }
  return {};
}

const BaselineRecord *Recording::baseline(const std::string &kernel) const {
  auto it = baselines.find(kernel);
  return it == baselines.end() ? nullptr : &it->second;
}

const Trial *Recording::trial(const std::string &kernel, uint64_t ticket,
                              const Recipe &recipe) const {
  auto it = byTicket.find({kernel, ticket});
  return it == byTicket.end() || !(it->second.recipe == recipe) ? nullptr
                                                                : &it->second;
}

const AcceptanceRecord *Recording::acceptance(const std::string &kernel,
                                              uint64_t ticket) const {
  auto it = acceptances.find({kernel, ticket});
  return it == acceptances.end() ? nullptr : &it->second;
}

} // namespace kernelbrain::search
