//===- Question.h - What a model is told ------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_PROPOSE_QUESTION_H
#define KERNELBRAIN_LIB_PROPOSE_QUESTION_H

#include "kernelbrain/Propose/ChatService.h"
#include "kernelbrain/Search/Interfaces.h"

namespace kernelbrain::propose {

/// Replaces each `{{name}}` of `text` by its value. What stands in a value is
/// not looked at again; a hole without a value stays, which a test finds.
std::string fillHoles(const std::string &text,
                      const std::map<std::string, std::string> &values);

/// Tokens of a text of that many bytes, as a rule, and at most.
int64_t usualTokens(size_t bytes);
int64_t mostTokens(size_t bytes);

/// The variants that a question shows: parent, chain and pool, each once, in
/// the order of their rewards.
std::vector<search::VariantView>
shownVariants(const search::ProposeContext &context);

/// The system message and the question. The kernel's text and the older
/// variants are left out where they do not fit into `promptTokens`.
std::vector<ChatMessage> makeQuestion(const search::ProposeContext &context,
                                      const std::string &target,
                                      int64_t promptTokens);

/// What is said to a model whose answer was of no use.
std::string makeFeedback(const std::string &error);

/// The JSON schema of an answer: strategies, knobs and parents by name.
OrderedJson patchSchema(const search::ProposeContext &context);

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_LIB_PROPOSE_QUESTION_H
