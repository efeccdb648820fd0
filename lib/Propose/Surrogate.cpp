//===- Surrogate.cpp - What measured variants say of others ---------------===//

#include "kernelbrain/Propose/Surrogate.h"

#include "kernelbrain/Propose/Moves.h"

#include <algorithm>
#include <cmath>

namespace kernelbrain::propose {

using search::ProposeContext;
using search::VariantView;

namespace {
// Variances of ln(time): of all recipes together and of a strategy, of each
// knob, and of a measurement. Knobs move the time of row kernels by factors of
// 1.05 to 2, measurements by a few percent.
constexpr double together = 0.25, ofKnob = 0.15 * 0.15, ofNoise = 0.05 * 0.05;
/// What a variant that failed counts as: twice the expected time, so that its
/// like is avoided.
constexpr double failure = 0.7;
/// How many standard deviations below the mean the guess is.
constexpr double optimism = 0.2;
/// Pairs in the right order that the first trust in the model is worth.
constexpr double prior = 6;
} // namespace

Surrogate::Surrogate(const ProposeContext &context) {
  std::vector<const VariantView *> failed;
  std::map<const Recipe *, double> expected;
  for (auto view = context.measured.begin(); view != context.measured.end();
       ++view) {
    const SearchSpace *space = findSpace(context, view->recipe.strategy);
    std::optional<double> ns =
        space ? expectedNs(context, *space, view->recipe) : std::nullopt;
    if (!ns)
      continue;
    Disposition disposition = view->measurement.disposition;
    bool isTimed = view->measurement.speedup && isCorrect(disposition) &&
                   view->measurement.speedup->middle > 0;
    if (isTimed)
      known.push_back({&view->recipe, std::log(*ns),
                       -std::log(view->measurement.speedup->middle)});
    else if (disposition == Disposition::Incorrect ||
             disposition == Disposition::BuildFailed ||
             disposition == Disposition::TimedOut)
      failed.push_back(&*view), expected[&view->recipe] = std::log(*ns);
  }
  double agreeing = prior, pairs = prior;
  for (size_t a = 0; a < known.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      double sign = (known[a].expected - known[b].expected) *
                    (known[a].measured - known[b].measured);
      agreeing += sign > 0 ? 1 : sign < 0 ? -1 : 0;
      pairs += 1;
    }
  trust = std::max(0.0, agreeing / pairs);
  double offset = 0;
  for (const Known &each : known)
    offset += (each.measured - trust * each.expected) / known.size();
  for (const VariantView *view : failed)
    known.push_back({&view->recipe, expected[&view->recipe],
                     offset + trust * expected[&view->recipe] + failure});

  // Cholesky: covariance + noise = lower * lower^T.
  size_t count = known.size();
  lower.assign(count, std::vector<double>(count));
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = covariance(*known[i].recipe, *known[j].recipe) +
                   (i == j ? ofNoise : 0);
      for (size_t k = 0; k < j; ++k)
        sum -= lower[i][k] * lower[j][k];
      lower[i][j] = i == j ? std::sqrt(sum) : sum / lower[j][j];
    }
  std::vector<double> residuals;
  for (const Known &each : known)
    residuals.push_back(each.measured - trust * each.expected - offset);
  weights = solveLower(residuals);
  for (size_t i = count; i-- > 0;) {
    for (size_t k = i + 1; k < count; ++k)
      weights[i] -= lower[k][i] * weights[k];
    weights[i] /= lower[i][i];
  }
}

double Surrogate::covariance(const Recipe &a, const Recipe &b) const {
  double sum = together;
  if (a.strategy != b.strategy)
    return sum;
  sum += together;
  for (auto left = a.knobs.begin(), right = b.knobs.begin();
       left != a.knobs.end() && right != b.knobs.end(); ++left, ++right)
    if (*left == *right)
      sum += ofKnob;
  return sum;
}

std::vector<double> Surrogate::solveLower(std::vector<double> right) const {
  for (size_t i = 0; i < right.size(); ++i) {
    for (size_t k = 0; k < i; ++k)
      right[i] -= lower[i][k] * right[k];
    right[i] /= lower[i][i];
  }
  return right;
}

double Surrogate::score(const Recipe &recipe, double expectedNs) const {
  std::vector<double> shared;
  double mean = trust * std::log(expectedNs);
  for (size_t i = 0; i < known.size(); ++i) {
    shared.push_back(covariance(recipe, *known[i].recipe));
    mean += shared.back() * weights[i];
  }
  double variance = covariance(recipe, recipe);
  for (double each : solveLower(std::move(shared)))
    variance -= each * each;
  return mean - optimism * std::sqrt(std::max(0.0, variance));
}

} // namespace kernelbrain::propose
