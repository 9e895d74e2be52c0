// poll, select and epoll in explored runs, over descriptors of the run's own and those that lead outside.
#pragma once

#include "recorder/core/explored/modelled_files.h"

namespace reweave::core {

// Answers the call if it waits for descriptors one of which is the run's own, or is about an epoll instance that is.
bool model_poll_call(Call& call, long& result);

// A new epoll instance; null: there are too many.
Poller* make_poller();
void add_reference(Poller& poller);
void drop_reference(Poller& poller);

// Nothing leads to it any more: nobody watches it.
void forget_watches(const ChannelFile& channel);
void forget_outside_watches(long fd, std::uint32_t file);

}  // namespace reweave::core
