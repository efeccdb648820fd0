//===- Question.cpp - What a model is told --------------------------------===//

#include "Question.h"

#include "Prompts.h"
#include "SafeJson.h"

#include "kernelbrain/Propose/Moves.h"

#include <cstdio>

namespace kernelbrain::propose {

using search::ProposeContext;
using search::StepKind;
using search::VariantView;

std::string fillHoles(const std::string &text,
                      const std::map<std::string, std::string> &values) {
  std::string out;
  size_t at = 0;
  for (;;) {
    size_t open = text.find("{{", at);
    size_t close = open == std::string::npos ? open : text.find("}}", open + 2);
    if (close == std::string::npos)
      return out + text.substr(at);
    auto value = values.find(text.substr(open + 2, close - open - 2));
    bool known = value != values.end();
    out += text.substr(at, open - at);
    out += known ? value->second : text.substr(open, close + 2 - open);
    at = close + 2;
  }
}

// IR has more tokens a byte than prose (4): short names, digits, punctuation.
int64_t usualTokens(size_t bytes) {
  return static_cast<int64_t>(bytes / 3 + 1);
}
int64_t mostTokens(size_t bytes) {
  return static_cast<int64_t>(bytes / 2 + 64);
}

static std::string valueText(const KnobValue &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  return std::get<std::string>(value);
}

static std::string numberText(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

static std::string strategiesText(const ProposeContext &context) {
  std::string text;
  for (const SearchSpace &space : *context.spaces) {
    text += "- " + space.strategy + "\n";
    for (const Knob &knob : space.knobs) {
      text += "  - " + knob.name + ":";
      for (const KnobValue &value : knob.values)
        text += " " + valueText(value);
      text += "; default " + valueText(knob.otherwise);
      if (context.inertKnobs.count(space.strategy + "." + knob.name))
        text += "; changed nothing when it was tried";
      if (!knob.description.empty())
        text += "; " + knob.description;
      text += "\n";
    }
    for (const Json &constraint : space.constraints)
      text += "  - must hold: " + dumpJson(constraint) + "\n";
  }
  return text;
}

static std::string variantText(const VariantView &variant) {
  std::string text =
      "- " + std::to_string(variant.ticket) + ": " + variant.recipe.strategy;
  for (const auto &[name, value] : variant.recipe.knobs)
    text += " " + name + "=" + valueText(value);
  if (!variant.recipe.payload.empty())
    text += ", kernel rewritten";
  const Measurement &measurement = variant.measurement;
  text += std::string("; ") + toString(measurement.disposition);
  if (measurement.speedup)
    text += ", speedup " + numberText(measurement.speedup->middle);
  if (measurement.profile)
    text += "; bound by " + describe(diagnose(*measurement.profile));
  if (!isCorrect(measurement.disposition) && !measurement.reason.empty())
    text += ": " + shortText(measurement.reason);
  return text + "\n";
}

std::vector<VariantView> shownVariants(const ProposeContext &context) {
  std::map<uint64_t, VariantView> byTicket;
  byTicket[context.parent.ticket] = context.parent;
  for (const std::vector<VariantView> *views : {&context.chain, &context.pool})
    for (const VariantView &view : *views)
      byTicket[view.ticket] = view;
  std::vector<VariantView> shown;
  for (auto &[ticket, view] : byTicket)
    shown.push_back(std::move(view));
  std::sort(shown.begin(), shown.end(),
            [](const VariantView &a, const VariantView &b) {
              return a.reward != b.reward ? a.reward < b.reward
                                          : a.ticket < b.ticket;
            });
  return shown;
}

/// As many as fit into `bytes`, the best ones; the parent always.
static std::string variantsText(const ProposeContext &context, size_t bytes) {
  std::vector<VariantView> shown = shownVariants(context);
  std::string text;
  for (auto variant = shown.rbegin(); variant != shown.rend(); ++variant) {
    std::string line = variantText(*variant);
    bool isParent = variant->ticket == context.parent.ticket;
    if (isParent || text.size() + line.size() <= bytes)
      text = line + text;
  }
  return text;
}

/// Values of single knobs that make a recipe which is legal and new. Each
/// question begins with another knob: those asked at the same time would else
/// get the same answer.
static std::string untriedText(const ProposeContext &context) {
  const SearchSpace *space = findSpace(context, context.parent.recipe.strategy);
  std::string text;
  size_t count = space ? space->knobs.size() : 0;
  for (size_t i = 0; i < count; ++i) {
    const Knob &knob = space->knobs[(i + context.question) % count];
    std::string values;
    for (const KnobValue &value : knob.values) {
      Recipe recipe = context.parent.recipe;
      recipe.knobs[knob.name] = value;
      if (context.seen && context.seen(recipe))
        continue;
      if (!expectedNs(context, *space, recipe))
        continue;
      values += " " + valueText(value);
    }
    if (!values.empty())
      text += (text.empty() ? "" : "; ") + knob.name + values;
  }
  return text.empty() ? "no single knob" : text;
}

static std::string taskText(const ProposeContext &context) {
  std::map<std::string, std::string> holes = {
      {"parent", std::to_string(context.parent.ticket)},
      {"reason", shortText(context.parent.measurement.reason)}};
  if (context.step == StepKind::Large || context.step == StepKind::Seed)
    return fillHoles(prompts::large_md, holes);
  holes["untried"] = untriedText(context);
  return fillHoles(context.step == StepKind::Repair ? prompts::repair_md
                                                    : prompts::small_md,
                   holes);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

std::vector<ChatMessage> makeQuestion(const ProposeContext &context,
                                      const std::string &target,
                                      int64_t promptTokens) {
  const std::string &payload = context.parent.recipe.payload;
  const std::string &text = payload.empty() ? context.kernel->text : payload;
  std::map<std::string, std::string> holes = {
      {"class", context.kernel->kind},
      {"flops", numberText(context.kernel->flops)},
      {"bytes", std::to_string(context.kernel->boundaryBytes)},
      {"target", target},
      {"strategies", strategiesText(context)},
      {"question", std::to_string(context.question)},
      {"task", taskText(context)},
      {"kernel", ""},
      {"variants", ""}};
  // 3 bytes a token, as in usualTokens.
  size_t room = static_cast<size_t>(std::max<int64_t>(0, promptTokens)) * 3;
  size_t fixed = std::string(prompts::system_md).size() +
                 fillHoles(prompts::ask_md, holes).size();
  room -= std::min(room, fixed);
  if (text.empty() || text.size() + 16 > room * 3 / 4) {
    holes["kernel"] = "Its text is not shown: leave edits and payload empty.";
  } else {
    holes["kernel"] = "```mlir\n" + text + "```";
    room -= text.size() + 16;
  }
  holes["variants"] = variantsText(context, room);
  return {{"system", prompts::system_md},
          {"user", fillHoles(prompts::ask_md, holes)}};
}

std::string makeFeedback(const std::string &error) {
  return fillHoles(prompts::feedback_md, {{"error", error}});
}

static OrderedJson oneOf(const std::set<std::string> &names) {
  return {{"type", "string"}, {"enum", names}};
}

static OrderedJson objectOf(const OrderedJson &members) {
  OrderedJson required = OrderedJson::array();
  for (const auto &[name, schema] : members.items())
    required.push_back(name);
  return {{"type", "object"},
          {"properties", members},
          {"required", required},
          {"additionalProperties", false}};
}

/// Each knob with its values: a server that keeps to the schema cannot name
/// others.
static OrderedJson knobSchema(const ProposeContext &context) {
  std::map<std::string, std::set<KnobValue>> values;
  for (const SearchSpace &space : *context.spaces)
    for (const Knob &knob : space.knobs)
      values[knob.name].insert(knob.values.begin(), knob.values.end());
  OrderedJson knobs = OrderedJson::array();
  for (const auto &[name, domain] : values) {
    OrderedJson numbers = OrderedJson::array(), words = OrderedJson::array();
    for (const KnobValue &value : domain)
      if (const int64_t *number = std::get_if<int64_t>(&value))
        numbers.push_back(*number);
      else
        words.push_back(std::get<std::string>(value));
    for (auto [type, choices] :
         {std::pair<const char *, OrderedJson>("integer", std::move(numbers)),
          {"string", std::move(words)}})
      if (!choices.empty())
        knobs.push_back(
            objectOf({{"name", oneOf({name})},
                      {"value", {{"type", type}, {"enum", choices}}}}));
  }
  if (knobs.empty()) // Whatever it is, it is refused.
    return {{"type", "string"}};
  return {{"anyOf", knobs}};
}

OrderedJson patchSchema(const ProposeContext &context) {
  // The empty one stands for the parent's, or the first that applies.
  std::set<std::string> strategies = {""};
  for (const SearchSpace &space : *context.spaces)
    strategies.insert(space.strategy);
  OrderedJson parents = OrderedJson::array();
  for (const VariantView &variant : shownVariants(context))
    parents.push_back(variant.ticket);
  OrderedJson text = {{"type", "string"}};
  OrderedJson edit = objectOf({{"find", text}, {"replace", text}});
  return objectOf(
      {{"rationale", text},
       {"parent", {{"type", "integer"}, {"enum", parents}}},
       {"strategy", oneOf(strategies)},
       {"knobs", {{"type", "array"}, {"items", knobSchema(context)}}},
       {"edits", {{"type", "array"}, {"items", edit}}},
       {"payload", text}});
}

} // namespace kernelbrain::propose
