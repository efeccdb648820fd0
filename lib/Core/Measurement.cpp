//===- Measurement.cpp - What became of a variant -------------------------===//

#include "kernelbrain/Core/Measurement.h"

#include "kernelbrain/Support/JsonReader.h"

namespace kernelbrain {

const char *toString(Disposition disposition) {
  switch (disposition) {
  case Disposition::NotApplicable:
    return "not_applicable";
  case Disposition::Duplicate:
    return "duplicate";
  case Disposition::InvalidRecipe:
    return "invalid_recipe";
  case Disposition::BuildFailed:
    return "build_failed";
  case Disposition::OutOfResources:
    return "out_of_resources";
  case Disposition::LaunchFailed:
    return "launch_failed";
  case Disposition::Crashed:
    return "crashed";
  case Disposition::TimedOut:
    return "timed_out";
  case Disposition::Incorrect:
    return "incorrect";
  case Disposition::Suspicious:
    return "suspicious";
  case Disposition::Unstable:
    return "unstable";
  case Disposition::Slower:
    return "slower";
  case Disposition::Passed:
    return "passed";
  case Disposition::RolledBack:
    return "rolled_back";
  case Disposition::NotRun:
    return "not_run";
  case Disposition::HarnessFault:
    return "harness_fault";
  }
  return "";
}

std::optional<Disposition> dispositionFromString(const std::string &text) {
  for (int i = 0; i <= static_cast<int>(Disposition::HarnessFault); ++i)
    if (text == toString(static_cast<Disposition>(i)))
      return static_cast<Disposition>(i);
  return std::nullopt;
}

bool isCorrect(Disposition disposition) {
  // A rolled back variant may have lost on time or on results: not known.
  return disposition == Disposition::Passed ||
         disposition == Disposition::Slower ||
         disposition == Disposition::Unstable;
}

static Result<Disposition> dispositionFromJson(const Json &json) {
  if (json.is_string())
    if (std::optional<Disposition> disposition =
            dispositionFromString(json.get<std::string>()))
      return *disposition;
  return Error{"unknown disposition " + dumpJson(json)};
}

Json toJson(const Ratio &ratio) {
  return {{"low", jsonNumber(ratio.low)},
          {"middle", jsonNumber(ratio.middle)},
          {"high", jsonNumber(ratio.high)}};
}

Result<Ratio> ratioFromJson(const Json &json) {
  Ratio ratio;
  JsonReader reader(json, "ratio");
  reader.required("low", ratio.low)
      .required("middle", ratio.middle)
      .required("high", ratio.high);
  if (Status status = reader.status(); !status)
    return status.error();
  return ratio;
}

Json toJson(const Measurement &measurement) {
  Json json = {{"disposition", toString(measurement.disposition)},
               {"reason", measurement.reason},
               {"rung", measurement.rung},
               {"time_ns", measurement.timeNs},
               {"error", jsonNumber(measurement.error)},
               {"page_faults", measurement.pageFaults},
               {"cost_ns", measurement.costNs},
               {"details", measurement.details}};
  if (measurement.speedup)
    json["speedup"] = toJson(*measurement.speedup);
  if (measurement.profile)
    json["profile"] = toJson(*measurement.profile);
  return json;
}

Result<Measurement> measurementFromJson(const Json &json) {
  Measurement measurement;
  JsonReader reader(json, "measurement");
  reader.required("disposition", measurement.disposition, dispositionFromJson)
      .optional("reason", measurement.reason)
      .optional("rung", measurement.rung)
      .optional("time_ns", measurement.timeNs)
      .optional("speedup", measurement.speedup, ratioFromJson)
      .optional("error", measurement.error)
      .optional("page_faults", measurement.pageFaults)
      .optional("cost_ns", measurement.costNs)
      .optional("profile", measurement.profile, profileFromJson)
      .optional("details", measurement.details);
  if (Status status = reader.status(); !status)
    return status.error();
  return measurement;
}

} // namespace kernelbrain
