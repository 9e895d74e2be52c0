// Mutex operations that condition variables use too.
#pragma once

#include <pthread.h>
#include <time.h>

#include <cstdint>

namespace reweave::shim {

// Acquires `mutex`, waiting in the scheduler until `deadline` on `clock` (null: forever). Has no schedule point of its
// own. `pc`: the return address of the interposed function. Returns what pthread_mutex_lock or pthread_mutex_timedlock
// would.
int acquire_mutex(pthread_mutex_t* mutex, const timespec* deadline, int clock, std::uint64_t pc);
// Releases `mutex` and lets a waiter try to acquire it. Returns what pthread_mutex_unlock would.
int release_mutex(pthread_mutex_t* mutex);

}  // namespace reweave::shim
