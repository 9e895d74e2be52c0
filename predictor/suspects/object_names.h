// Names of objects of the static analysis, for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "predictor/suspects/points_to.h"
#include "predictor/suspects/thread_walk.h"

namespace reweave {

// "balance", "queue.head", "a block that make allocates (list.c:12)". `offset`: none for the whole object.
std::string object_name(const ProgramSummary& program, const PointsTo& points_to, std::uint32_t object,
                        std::optional<std::uint64_t> offset);
// The function in which threads begin; for those of std::thread, the place that starts them.
std::string thread_name(const ProgramSummary& program, const PointsTo& points_to, const ThreadKind& kind);
// False for files of the compiler and of libraries, and for an empty name.
bool is_user_file(const std::string& file);
// The innermost place in the user's code around `place`; nothing if there is none.
std::optional<std::uint32_t> user_place(const ProgramSummary& program, std::uint32_t place);

}  // namespace reweave
