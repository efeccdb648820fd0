//===- BudgetLedgerTest.cpp - No overspending -----------------------------===//

#include "kernelbrain/Search/BudgetLedger.h"
#include "kernelbrain/Support/Random.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::search;

static Amounts amounts(Currency currency, int64_t value) {
  Amounts amounts;
  amounts[currency] = value;
  return amounts;
}

TEST(BudgetLedger, NeverOverspendsUnderRandomStreams) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random({seed});
    Budget budget;
    budget[Currency::Variants] = 20;
    budget[Currency::Tokens] = 1000;
    BudgetLedger ledger(budget);
    std::vector<std::pair<uint64_t, Amounts>> open;
    for (uint64_t ticket = 0; ticket < 200; ++ticket) {
      Amounts wanted = amounts(Currency::Variants, 1);
      wanted[Currency::Tokens] = int64_t(random.below(100));
      if (ledger.reserve("k", ticket, wanted))
        open.push_back({ticket, wanted});
      if (!open.empty() && random.chance(0.6)) {
        auto [settled, held] = open.back();
        open.pop_back();
        Amounts spent;
        spent[Currency::Variants] = random.chance(0.7);
        spent[Currency::Tokens] =
            int64_t(random.below(uint64_t(held[Currency::Tokens]) + 1));
        ledger.settle("k", settled, spent);
      }
      ASSERT_LE(ledger.spent()[Currency::Variants] + int64_t(open.size()), 20);
      ASSERT_LE(ledger.spent()[Currency::Tokens], 1000);
    }
  }
}

TEST(BudgetLedger, ARefusalChangesNothingAndNamesTheCurrency) {
  Budget budget;
  budget[Currency::Tokens] = 10;
  budget[Currency::Money] = 5;
  BudgetLedger ledger(budget);
  Amounts wanted = amounts(Currency::Tokens, 10);
  wanted[Currency::Money] = 6;
  Currency lacking = Currency::Wall;
  EXPECT_FALSE(ledger.reserve("k", 1, wanted, &lacking));
  EXPECT_EQ(lacking, Currency::Money);
  EXPECT_EQ(ledger.left(Currency::Tokens), 10);
  EXPECT_EQ(ledger.left(Currency::Wall), std::nullopt);
}

TEST(BudgetLedger, HoldsAReserveForAcceptance) {
  Budget budget;
  budget[Currency::Wall] = 1000;
  budget.acceptanceShare = 0.2;
  BudgetLedger ledger(budget);
  EXPECT_EQ(ledger.left(Currency::Wall), 800);
  EXPECT_FALSE(ledger.reserve("k", 1, amounts(Currency::Wall, 801)));
  EXPECT_TRUE(ledger.reserve("k", 1, amounts(Currency::Wall, 800)));
  ledger.settle("k", 1, amounts(Currency::Wall, 800));
  EXPECT_FALSE(ledger.reserve("k", 2, Amounts()));
  EXPECT_TRUE(ledger.affordsAcceptance(amounts(Currency::Wall, 200)));
  EXPECT_FALSE(ledger.affordsAcceptance(amounts(Currency::Wall, 201)));
  ledger.spendOnAcceptance("k", amounts(Currency::Wall, 150));
  // Spending the reserve frees nothing for the search.
  EXPECT_EQ(ledger.left(Currency::Wall), 0);
  EXPECT_EQ(ledger.spent()[Currency::Wall], 950);
}

TEST(BudgetLedger, BooksTimeAsItWas) {
  Budget budget;
  budget[Currency::Device] = 100;
  budget.acceptanceShare = 0;
  BudgetLedger ledger(budget);
  EXPECT_TRUE(ledger.reserve("k", 1, amounts(Currency::Device, 50)));
  ledger.settle("k", 1, amounts(Currency::Device, 130));
  EXPECT_EQ(ledger.spent("k")[Currency::Device], 130);
  EXPECT_FALSE(ledger.reserve("k", 2, Amounts()));
}

TEST(BudgetLedger, SetupIsNotLimited) {
  Budget budget;
  budget[Currency::Wall] = 10;
  BudgetLedger ledger(budget);
  ledger.spendOnSetup(1000000);
  EXPECT_EQ(ledger.setupNs(), 1000000);
  EXPECT_TRUE(ledger.reserve("k", 1, amounts(Currency::Wall, 9)));
}
