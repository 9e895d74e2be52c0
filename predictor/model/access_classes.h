// The accesses of one variable, sorted into classes: same thread, code location and kind.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave {

struct AccessClass {
  std::uint32_t thread;
  std::uint32_t site;
  Op op;
  bool atomic;
  bool frees;
  std::vector<EventIndex> events;  // by position

  bool writes() const { return op != Op::kRead; }
};

// The largest number of classes of one variable; accesses of further classes are left out.
inline constexpr std::size_t kMaxAccessClasses = 64;

// The classes of `variable`, in order of thread and first access. At most `most`, shared out by location and kind, so
// that no location is lost because many threads access the variable at another one. Accesses of further classes are
// counted in `left_out`.
std::vector<AccessClass> access_classes(const TraceModel& model, std::uint32_t variable, std::size_t most,
                                        std::uint64_t& left_out);

// The accesses of `variable` by thread, then position.
std::vector<EventIndex> accesses_of(const TraceModel& model, std::uint32_t variable);

// Up to `count` elements of `events`, evenly spread, the first and last included.
std::vector<EventIndex> spread(const std::vector<EventIndex>& events, std::size_t count);

}  // namespace reweave
