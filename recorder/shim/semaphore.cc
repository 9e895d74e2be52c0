// sem_*: glibc keeps the count; the scheduler does the waiting.
#include <pthread.h>
#include <semaphore.h>

#include <cerrno>
#include <ctime>

#include "recorder/shim/cancellation.h"
#include "recorder/shim/deadline.h"
#include "recorder/shim/heap_shadow.h"
#include "recorder/shim/real.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

Real<int(sem_t*)> real_trywait = {"sem_trywait"};
Real<int(sem_t*)> real_post = {"sem_post"};

int fail(int error) {
  errno = error;
  return -1;
}

struct Waiting {
  sem_t* semaphore;
  const timespec* deadline;
  int clock;
  std::uint64_t pc;
  bool interrupted;
};

int wait_for_post(void* raw) {
  auto& waiting = *static_cast<Waiting*>(raw);
  const WaitResult result = block(WaitKind::kSemaphore, waiting.semaphore, waiting.pc, waiting.deadline, waiting.clock);
  const bool due = self().deliver_due != 0;
  waiting.interrupted = deliver_signals() || (due && waiting.deadline != nullptr);
  return static_cast<int>(result);
}

void nothing(void*) {}

int wait(sem_t* semaphore, const timespec* deadline, int clock, std::uint64_t pc) {
  if (!is_valid(deadline, clock)) return fail(EINVAL);
  pthread_testcancel();  // a cancelled thread stops here, whether or not it would have to wait
  point(OpKind::kSemaphore, semaphore, pc);
  use_and_note(semaphore, pc);
  for (;;) {
    if (real_trywait(semaphore) == 0) {
      note(EventKind::kSemWait, semaphore, pc);
      return 0;
    }
    if (errno != EAGAIN) return -1;
    Waiting waiting = {semaphore, deadline, clock, pc, false};
    const auto result = static_cast<WaitResult>(shim_cancellable_wait(wait_for_post, &waiting, nothing, nullptr));
    if (result == WaitResult::kTimedOut) return fail(ETIMEDOUT);
    if (waiting.interrupted) return fail(EINTR);
  }
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

REWEAVE_EXPORT int sem_wait(sem_t* semaphore) { return wait(semaphore, nullptr, 0, REWEAVE_CALLER); }
REWEAVE_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  return wait(semaphore, deadline, CLOCK_REALTIME, REWEAVE_CALLER);
}
REWEAVE_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  return wait(semaphore, deadline, clock, REWEAVE_CALLER);
}

REWEAVE_EXPORT int sem_trywait(sem_t* semaphore) {
  point(OpKind::kSemaphore, semaphore, REWEAVE_CALLER);
  use_and_note(semaphore, REWEAVE_CALLER);
  const int result = real_trywait(semaphore);
  if (result == 0) note(EventKind::kSemWait, semaphore, REWEAVE_CALLER);
  return result;
}

REWEAVE_EXPORT int sem_post(sem_t* semaphore) {
  point(OpKind::kSemaphore, semaphore, REWEAVE_CALLER, static_cast<std::uint32_t>(SemaphoreUse::kPost));
  use(semaphore, REWEAVE_CALLER);
  note_use(EventKind::kSemPost, semaphore, REWEAVE_CALLER);
  const int result = real_post(semaphore);
  if (result == 0) wake(WaitKind::kSemaphore, semaphore, 1);
  return result;
}
