//===- BudgetLedger.cpp - What a run may spend and has spent --------------===//

#include "kernelbrain/Search/BudgetLedger.h"

namespace kernelbrain::search {

static constexpr Currency currencies[] = {Currency::Wall,   Currency::Compile,
                                          Currency::Device, Currency::Variants,
                                          Currency::Tokens, Currency::Money};

const char *toString(Currency currency) {
  switch (currency) {
  case Currency::Wall:
    return "wall_ns";
  case Currency::Compile:
    return "compile_ns";
  case Currency::Device:
    return "device_ns";
  case Currency::Variants:
    return "variants";
  case Currency::Tokens:
    return "tokens";
  case Currency::Money:
    return "micro_money";
  }
  return "";
}

const char *describe(Currency currency) {
  switch (currency) {
  case Currency::Wall:
    return "time";
  case Currency::Compile:
    return "compile time";
  case Currency::Device:
    return "device time";
  case Currency::Variants:
    return "variants";
  case Currency::Tokens:
    return "tokens";
  case Currency::Money:
    return "money";
  }
  return "";
}

Amounts &Amounts::operator+=(const Amounts &other) {
  for (size_t i = 0; i < currencyCount; ++i)
    values[i] += other.values[i];
  return *this;
}

Amounts &Amounts::operator-=(const Amounts &other) {
  for (size_t i = 0; i < currencyCount; ++i)
    values[i] -= other.values[i];
  return *this;
}

Json toJson(const Amounts &amounts) {
  Json json = Json::object();
  for (Currency currency : currencies)
    json[toString(currency)] = amounts[currency];
  return json;
}

Json toJson(const Budget &budget) {
  Json json = {{"acceptance_share", budget.acceptanceShare}};
  for (Currency currency : currencies)
    if (budget[currency])
      json[toString(currency)] = *budget[currency];
  return json;
}

/// Acceptance takes time; it makes no variants and asks no model.
static bool isTime(Currency currency) {
  return currency == Currency::Wall || currency == Currency::Compile ||
         currency == Currency::Device;
}

int64_t BudgetLedger::heldForAcceptance(Currency currency) const {
  if (!isTime(currency) || !budget[currency])
    return 0;
  auto held = static_cast<int64_t>(budget.acceptanceShare *
                                   static_cast<double>(*budget[currency]));
  return std::max<int64_t>(0, held - acceptance[currency]);
}

std::optional<int64_t> BudgetLedger::left(Currency currency) const {
  if (!budget[currency])
    return std::nullopt;
  return std::max<int64_t>(0, *budget[currency] - total[currency] -
                                  reserved[currency] -
                                  heldForAcceptance(currency));
}

bool BudgetLedger::reserve(const std::string &kernel, uint64_t ticket,
                           const Amounts &amounts, Currency *lacking) {
  for (Currency currency : currencies) {
    std::optional<int64_t> free = left(currency);
    // Nothing left is a refusal even where nothing is expected to be spent:
    // what is expected of time is a guess.
    bool refused =
        free && (amounts[currency] > *free || (isTime(currency) && *free == 0));
    if (!refused)
      continue;
    if (lacking)
      *lacking = currency;
    return false;
  }
  Amounts &held = open[{kernel, ticket}];
  held += amounts;
  reserved += amounts;
  return true;
}

void BudgetLedger::settle(const std::string &kernel, uint64_t ticket,
                          const Amounts &spent) {
  auto held = open.find({kernel, ticket});
  if (held != open.end()) {
    reserved -= held->second;
    open.erase(held);
  }
  total += spent;
  byKernel[kernel] += spent;
}

bool BudgetLedger::affordsAcceptance(const Amounts &amounts) const {
  for (Currency currency : currencies)
    if (budget[currency] &&
        total[currency] + amounts[currency] > *budget[currency])
      return false;
  return true;
}

void BudgetLedger::spendOnAcceptance(const std::string &kernel,
                                     const Amounts &spent) {
  acceptance += spent;
  total += spent;
  byKernel[kernel] += spent;
}

Amounts BudgetLedger::spent(const std::string &kernel) const {
  auto it = byKernel.find(kernel);
  return it == byKernel.end() ? Amounts() : it->second;
}

} // namespace kernelbrain::search
