//===- SafeJson.h - JSON and text from strangers ----------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_PROPOSE_SAFEJSON_H
#define KERNELBRAIN_LIB_PROPOSE_SAFEJSON_H

#include "kernelbrain/Support/Json.h"

namespace kernelbrain::propose {

/// parseJson for text that may be hostile: refuses nesting that would exhaust
/// the stack of whoever walks the value.
Result<Json> parseForeignJson(const std::string &text);

/// `text` on one line of printable ASCII, at most 200 characters.
std::string shortText(const std::string &text);

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_LIB_PROPOSE_SAFEJSON_H
