#include "replayer/live/held_replay.h"

#include <sys/wait.h>

#include <vector>

#include "formats/base/error.h"

namespace reweave {

HeldReplay::HeldReplay(const ReplaySource& source, const HelperTask& task, nlohmann::json known)
    : where_(task.where), is_copy_(task.from != nullptr), place_(std::move(known)), helper_(source, task) {}

HeldReplay::~HeldReplay() { process_.reset(); }

void HeldReplay::ready(const CoreSymbols& core) {
  if (process_ != nullptr) return;
  std::vector<Fd> none;
  const auto answer = helper_.answer(none);
  if (!answer || !answer->contains("pid")) {
    const int status = helper_.status();
    throw BadInput(fmt::format("the replay did not reach event {}", where_),
                   WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : kExitInternal);
  }
  place_.update(*answer);
  process_ = std::make_unique<TracedProcess>(place_.at("pid").get<pid_t>(), core);
  process_->core().end_hold();
  // Another process of the tree may be the one that holds; `g` releases it.
  REQUIRE(helper_.tell("g"), "the replay at event {} has ended", where_);
}

}  // namespace reweave
