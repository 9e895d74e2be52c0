// The clock that a lock, an atomic or the like passes from the threads that release it to those that acquire it.
//
// Usually it is the clock of one thread, and then two comparisons save most of the work. A thread that knows that
// thread's entry knows the whole clock. A thread that has learned nothing since it last released the object changes
// only one entry. So the work grows with what threads learn of each other, not with how often they lock.
#pragma once

#include "predictor/detectors/vector_clock.h"

namespace reweave {

// A thread's clock, and the number of times that it learned of other threads. The thread ticks after each release, so
// each release passes on a different value of its own entry.
struct ThreadClock {
  VectorClock clock;
  std::uint32_t now = 1;      // its own entry
  std::uint32_t learned = 0;  // grows whenever another thread's entry does

  explicit ThreadClock(ThreadId thread) : self(thread) { clock.at(thread) = now; }
  void tick() { clock.at(self) = ++now; }
  // Returns true if `other` had something new.
  bool learn(const VectorClock& other) {
    if (!clock.join(other)) return false;
    ++learned;
    return true;
  }

  ThreadId self;
};

class HandedClock {
 public:
  // True if `thread` certainly knows all of this clock; does not compare entry by entry.
  bool known_to(const ThreadClock& thread) const {
    return one_thread_ ? thread.clock[from_] >= now_ : clock_.size() == 0;
  }
  // Joins the clock of `thread` to this one.
  void add(const ThreadClock& thread) {
    if (known_to(thread)) return set(thread);
    clock_.join(thread.clock);
    one_thread_ = false;
  }
  // Becomes a copy of the clock of `thread`.
  void set(const ThreadClock& thread) {
    if (one_thread_ && from_ == thread.self && learned_ == thread.learned) {
      clock_.at(from_) = thread.now;
    } else {
      clock_ = thread.clock;
    }
    one_thread_ = true;
    from_ = thread.self;
    now_ = thread.now;
    learned_ = thread.learned;
  }
  const VectorClock& clock() const { return clock_; }

 private:
  VectorClock clock_;
  std::uint32_t now_ = 0, learned_ = 0;  // of thread from_
  ThreadId from_ = 0;
  bool one_thread_ = false;  // clock_ is that of one thread
};

}  // namespace reweave
