// poll, select and epoll in explored runs, over descriptors of the run's own and those that lead outside.
#pragma once

#include "recorder/core/explored/files/own_descriptors.h"

namespace reweave::core {

// Answers the call if it waits for descriptors of which one is the run's own, or concerns an epoll instance of its own.
bool model_poll_call(Call& call, long& result);

// A new epoll instance; null: there are too many.
Poller* make_poller();
void add_reference(Poller& poller);
void drop_reference(Poller& poller);

// Nothing refers to it any more: removes its watches.
void forget_watches(const ChannelFile& channel);
void forget_outside_watches(long fd, std::uint32_t file);

}  // namespace reweave::core
