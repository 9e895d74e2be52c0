// The columns of an event block, which its encoder writes and its decoder reads (recording.capnp EventBlock).
#pragma once

#include <cstdint>

namespace reweave {

// The bytes that an output takes in a record: whole words.
constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) & ~std::uint64_t{7}; }

template <typename Column>
struct EventColumns {
  Column heads, threads;
  Column switch_steps, switch_targets, switch_reasons, switch_ticks;
  Column call_places, call_new_places, call_checks, call_numbers, call_flags, call_results, call_args[6], call_steps,
      call_output_counts;
  Column shapes, addresses, lengths, payload;
  Column clock_steps, clock_contexts, clock_ids, clock_times;
  Column raw;

  template <typename Visit>
  void each(Visit visit) {
    for (Column* column : {&heads,
                           &threads,
                           &switch_steps,
                           &switch_targets,
                           &switch_reasons,
                           &switch_ticks,
                           &call_places,
                           &call_new_places,
                           &call_checks,
                           &call_numbers,
                           &call_flags,
                           &call_results,
                           &call_steps,
                           &call_output_counts,
                           &shapes,
                           &addresses,
                           &lengths,
                           &payload,
                           &clock_steps,
                           &clock_contexts,
                           &clock_ids,
                           &clock_times,
                           &raw})
      visit(*column);
    for (Column& column : call_args) visit(column);
  }
};

}  // namespace reweave
