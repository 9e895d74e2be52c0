// Elements of arrays: tells two addresses of one function apart, or sees that they have the same index.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "predictor/suspects/program_summary.h"

namespace reweave {

class Elements {
 public:
  explicit Elements(const ProgramSummary& program) : program_(program) {}

  // The node that is the index of the last element on the way to the address, a value of `function`; nothing if it is
  // not known.
  std::optional<std::uint32_t> index_of(std::uint32_t function, const Operand& address) const;
  // The step that made what the address leads into, if it is known: a call that allocates, a load, ...
  const SummaryStep* maker_of(std::uint32_t function, const Operand& address) const;

 private:
  // The step that makes each node: null if several do.
  using Makers = std::unordered_map<std::uint32_t, const SummaryStep*>;
  const Makers& makers_of(std::uint32_t function) const;
  template <typename Ends>
  const SummaryStep* back_to(std::uint32_t function, Operand at, Ends&& ends) const;

  const ProgramSummary& program_;
  mutable std::map<std::uint32_t, Makers> makers_;
};

}  // namespace reweave
