//===- Location.h - Where the store is --------------------------*- C++ -*-===//
//
// A store is one folder: tuning.db, runs/, artifacts/, machines/
// (docs/Store.md).
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_STORE_LOCATION_H
#define KERNELBRAIN_STORE_LOCATION_H

#include "kernelbrain/Support/Result.h"

#include <string>

namespace kernelbrain::store {

/// The folder of the store: `option` if not empty, else the environment
/// variable KB_STORE, else $XDG_CACHE_HOME/kernelbrain, else
/// ~/.cache/kernelbrain. Nothing is made or looked at. An error if none of them
/// is known.
Result<std::string> findStore(const std::string &option);

/// Makes the folder if it is missing and tries that a file can be written
/// there. The error says what is wrong and how to choose another store.
Status prepareStore(const std::string &store);

/// The tuning database of a store.
std::string databasePath(const std::string &store);

/// Where a store keeps what was measured of the device of that name.
std::string machinePath(const std::string &store, const std::string &device);

} // namespace kernelbrain::store

#endif // KERNELBRAIN_STORE_LOCATION_H
