//===- BudgetLedger.h - What a run may spend and has spent ------*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_BUDGETLEDGER_H
#define KERNELBRAIN_SEARCH_BUDGETLEDGER_H

#include "kernelbrain/Support/Json.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kernelbrain::search {

/// Times are nanoseconds, money is in millionths of its unit.
enum class Currency { Wall, Compile, Device, Variants, Tokens, Money };
constexpr size_t currencyCount = 6;
const char *toString(Currency currency);
/// In words: "device time".
const char *describe(Currency currency);

/// An amount of every currency.
class Amounts {
public:
  int64_t &operator[](Currency currency) {
    return values[static_cast<size_t>(currency)];
  }
  int64_t operator[](Currency currency) const {
    return values[static_cast<size_t>(currency)];
  }
  Amounts &operator+=(const Amounts &other);
  Amounts &operator-=(const Amounts &other);

private:
  std::array<int64_t, currencyCount> values{};
};
/// {"wall_ns", "compile_ns", "device_ns", "variants", "tokens", "micro_money"}.
Json toJson(const Amounts &amounts);

/// Limits of a whole module; an absent one does not limit.
struct Budget {
  std::array<std::optional<int64_t>, currencyCount> limits;
  std::optional<int64_t> &operator[](Currency currency) {
    return limits[static_cast<size_t>(currency)];
  }
  const std::optional<int64_t> &operator[](Currency currency) const {
    return limits[static_cast<size_t>(currency)];
  }
  /// Share of each limit on time that only acceptance may use, so that a winner
  /// is always validated.
  double acceptanceShare = 0.1;
};
Json toJson(const Budget &budget);

/// Money in the bank is never spent twice: an amount is reserved before the
/// work and settled after it. Reservations fit into the limits together with
/// all that is spent and reserved already, and with what acceptance needs. Time
/// that a variant took beyond its reservation is booked as it was; the next
/// reservation fails then.
class BudgetLedger {
public:
  explicit BudgetLedger(const Budget &budget) : budget(budget) {}

  /// Reserves for (`kernel`, `ticket`). False, and no change, if it does not
  /// fit; `lacking` then names the currency.
  bool reserve(const std::string &kernel, uint64_t ticket,
               const Amounts &amounts, Currency *lacking = nullptr);
  /// Replaces the reservation by what was spent.
  void settle(const std::string &kernel, uint64_t ticket, const Amounts &spent);
  /// True if acceptance may still start work of `amounts`: it may use all that
  /// is left.
  bool affordsAcceptance(const Amounts &amounts) const;
  void spendOnAcceptance(const std::string &kernel, const Amounts &spent);
  /// One-off cost of banks, references and baselines: shown, never limited.
  void spendOnSetup(int64_t nanoseconds) { setup += nanoseconds; }

  const Amounts &spent() const { return total; }
  Amounts spent(const std::string &kernel) const;
  int64_t setupNs() const { return setup; }
  /// What a reservation may still take; std::nullopt: no limit.
  std::optional<int64_t> left(Currency currency) const;
  const Budget &limits() const { return budget; }

private:
  int64_t heldForAcceptance(Currency currency) const;

  Budget budget;
  Amounts total, reserved, acceptance;
  std::map<std::string, Amounts> byKernel;
  std::map<std::pair<std::string, uint64_t>, Amounts> open;
  int64_t setup = 0;
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_BUDGETLEDGER_H
