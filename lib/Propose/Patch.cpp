//===- Patch.cpp - The answer of a model ----------------------------------===//

#include "Patch.h"

#include "Question.h"
#include "SafeJson.h"

#include "kernelbrain/Propose/Moves.h"
#include "kernelbrain/Support/JsonReader.h"

namespace kernelbrain::propose {

using search::ProposeContext;
using search::VariantView;

/// What the compile server takes.
constexpr size_t maxPayloadBytes = 256 << 10;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// `text` without what a model thought before it answered.
static std::string withoutThinking(const std::string &text) {
  for (const char *tag : {"</think>", "</thinking>", "</thought>"}) {
    size_t end = text.rfind(tag);
    if (end != std::string::npos)
      return text.substr(end + std::string(tag).size());
  }
  return text;
}

/// The content of the first block that is fenced as `language`.
static std::optional<std::string> fenced(const std::string &text,
                                         const std::string &language) {
  std::string fence = "```" + language;
  size_t open = text.find(fence);
  if (open == std::string::npos)
    return std::nullopt;
  size_t begin = text.find('\n', open);
  size_t end = begin == std::string::npos ? begin : text.find("\n```", begin);
  if (end == std::string::npos)
    return std::nullopt;
  return text.substr(begin + 1, end - begin);
}

/// The first object in `text`, braces balanced; empty if it has no end.
static std::string firstObject(const std::string &text) {
  size_t begin = text.find('{');
  int depth = 0;
  bool inString = false;
  for (size_t i = begin; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return text.substr(begin, i + 1 - begin);
    }
  }
  return "";
}

static Result<std::pair<std::string, KnobValue>>
knobFromJson(const Json &json) {
  std::pair<std::string, KnobValue> knob;
  JsonReader reader(json, "knob");
  reader.required("name", knob.first)
      .required("value", knob.second, knobValueFromJson);
  if (Status status = reader.status(); !status)
    return status.error();
  return knob;
}

static Result<Patch::Edit> editFromJson(const Json &json) {
  Patch::Edit edit;
  JsonReader reader(json, "edit");
  reader.required("find", edit.find).required("replace", edit.replace);
  if (Status status = reader.status(); !status)
    return status.error();
  return edit;
}

static Result<Patch> patchFromJson(const Json &json) {
  for (const auto &[name, value] : json.items())
    if (name != "rationale" && name != "parent" && name != "strategy" &&
        name != "knobs" && name != "edits" && name != "payload")
      return Error{"unknown member '" + shortText(name) + "'"};
  Patch patch;
  int64_t parent = -1;
  JsonReader reader(json, "patch");
  reader.required("rationale", patch.rationale)
      .optional("parent", parent)
      .optional("strategy", patch.strategy)
      .elements("knobs", patch.knobs, knobFromJson, /*needed=*/false)
      .elements("edits", patch.edits, editFromJson, /*needed=*/false)
      .optional("payload", patch.payload);
  if (Status status = reader.status(); !status)
    return status.error();
  if (json.contains("parent"))
    patch.parent = parent;
  return patch;
}

Result<Patch> parsePatch(const std::string &answer) {
  std::string text = withoutThinking(answer);
  std::optional<std::string> block = fenced(text, "json");
  std::string object = firstObject(block ? *block : text);
  if (object.empty())
    return Error{text.find('{') == std::string::npos
                     ? "it holds no JSON object"
                     : "its JSON object has no end"};
  Result<Json> json = parseForeignJson(object);
  if (!json)
    return json.error();
  Result<Patch> patch = patchFromJson(*json);
  if (patch && patch->payload.empty())
    if (std::optional<std::string> payload = fenced(text, "mlir"))
      patch->payload = *payload;
  return patch;
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

static Result<std::string> edited(std::string text,
                                  const std::vector<Patch::Edit> &edits) {
  if (text.empty())
    return Error{"the kernel's text is not shown: it cannot be edited"};
  for (const Patch::Edit &edit : edits) {
    size_t at = edit.find.empty() ? std::string::npos : text.find(edit.find);
    if (at == std::string::npos)
      return Error{"the kernel's text does not hold '" + shortText(edit.find) +
                   "'"};
    if (text.find(edit.find, at + 1) != std::string::npos)
      return Error{"the kernel's text holds '" + shortText(edit.find) +
                   "' more than once"};
    text.replace(at, edit.find.size(), edit.replace);
    if (text.size() > maxPayloadBytes)
      break;
  }
  return text;
}

static std::string digits(const KnobValue &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  return std::get<std::string>(value);
}

/// A number in quotes stands for the number where the knob has that, and the
/// other way round.
static KnobValue inDomain(const SearchSpace &space, const std::string &name,
                          const KnobValue &value) {
  const Knob *knob = space.find(name);
  for (size_t i = 0; knob && i < knob->values.size(); ++i)
    if (digits(knob->values[i]) == digits(value))
      return knob->values[i];
  return value;
}

static Status setKnobs(const Patch &patch, const SearchSpace &space,
                       Recipe &recipe) {
  for (const auto &[name, value] : patch.knobs) {
    if (!space.find(name))
      return Error{"strategy '" + space.strategy + "' has no knob '" +
                   shortText(name) + "'"};
    recipe.knobs[name] = inDomain(space, name, value);
  }
  return {};
}

/// The kernel that `patch` makes of the text of `parent`; std::nullopt: it
/// stays as it is.
static Result<std::optional<std::string>>
rewritten(const Patch &patch, const VariantView &parent,
          const ProposeContext &context) {
  if (!patch.payload.empty() && !patch.edits.empty())
    return Error{"it has both edits and a payload"};
  if (patch.payload.empty() && patch.edits.empty())
    return std::optional<std::string>();
  const std::string &before = parent.recipe.payload.empty()
                                  ? context.kernel->text
                                  : parent.recipe.payload;
  Result<std::string> text = patch.payload.empty()
                                 ? edited(before, patch.edits)
                                 : Result<std::string>(patch.payload);
  if (!text)
    return text.error();
  if (text->size() > maxPayloadBytes)
    return Error{"the kernel's text is over " +
                 std::to_string(maxPayloadBytes) + " bytes"};
  if (*text == before)
    return std::optional<std::string>();
  return std::optional<std::string>(std::move(*text));
}

static Result<VariantView> findParent(const Patch &patch,
                                      const ProposeContext &context) {
  if (!patch.parent)
    return context.parent;
  for (const VariantView &view : shownVariants(context))
    if (static_cast<int64_t>(view.ticket) == *patch.parent)
      return view;
  return Error{"variant " + std::to_string(*patch.parent) +
               " is none of those shown"};
}

static const SearchSpace *spaceOf(const std::vector<SearchSpace> &spaces,
                                  const std::string &strategy) {
  for (const SearchSpace &space : spaces)
    if (space.strategy == strategy)
      return &space;
  return nullptr;
}

/// The recipe of `parent` in a space that may be another one: knobs that both
/// have are kept where the strategy stays.
static Recipe inSpace(const SearchSpace &space, const std::string &payload,
                      const Recipe &parent) {
  Recipe recipe = space.defaultRecipe();
  recipe.payload = payload;
  if (parent.strategy != space.strategy)
    return recipe;
  for (auto &[name, value] : recipe.knobs) {
    auto before = parent.knobs.find(name);
    const Knob *knob = space.find(name);
    if (before != parent.knobs.end() && knob &&
        std::find(knob->values.begin(), knob->values.end(), before->second) !=
            knob->values.end())
      value = before->second;
  }
  return recipe;
}

Result<Recipe> applyPatch(const Patch &patch, const ProposeContext &context) {
  Result<VariantView> parent = findParent(patch, context);
  if (!parent)
    return parent.error();
  Result<std::optional<std::string>> text = rewritten(patch, *parent, context);
  if (!text)
    return text.error();
  std::string payload = parent->recipe.payload;
  search::PayloadReading reading;
  if (*text) {
    Result<search::PayloadReading> read = context.readPayload(**text);
    if (!read)
      return read.error();
    reading = std::move(*read);
    if (reading.disposition != Disposition::Passed)
      return Error{"the kernel's text is not legal: " +
                   shortText(reading.reason)};
    payload = reading.text;
    if (payload == context.kernel->text)
      return Error{"the new kernel is the old one"};
  } else if (payload != context.parent.recipe.payload) {
    return Error{"variant " + std::to_string(parent->ticket) +
                 " has another kernel than the one shown"};
  }
  const std::vector<SearchSpace> &spaces =
      *text ? reading.spaces : *context.spaces;
  std::string strategy =
      patch.strategy.empty() ? parent->recipe.strategy : patch.strategy;
  const SearchSpace *space = spaceOf(spaces, strategy);
  // What a rewritten kernel needs may be another strategy than its parent's.
  if (!space && *text && patch.strategy.empty() && !spaces.empty())
    space = &spaces.front();
  if (!space)
    return Error{"no strategy '" + shortText(strategy) + "' applies"};
  Recipe recipe = inSpace(*space, payload, parent->recipe);
  if (Status status = setKnobs(patch, *space, recipe); !status)
    return status.error();
  if (std::string violation = space->violation(recipe); !violation.empty())
    return Error{violation};
  if (Estimate estimate = context.cost ? context.cost(recipe) : Estimate();
      !estimate.rejection.empty())
    return Error{estimate.rejection};
  if (recipe == parent->recipe)
    return Error{"it changes nothing of variant " +
                 std::to_string(parent->ticket)};
  if (context.seen(recipe))
    return Error{"this recipe was tried already"};
  return recipe;
}

} // namespace kernelbrain::propose
