#include "replayer/stack_answers.h"

#include <fmt/core.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace reweave {

void StackAnswers::answer() {
  StackRequest& request = arena_.stack_cache().request;
  request.stack = 0;
  if (request.space.process < kMaxProcesses) {
    Unwinder& unwinder = unwinder_of(request.space);
    const bool found = unwinder.unwind(request.registers, request.pc, stack_);
    if (unwinder.forbidden() && !std::exchange(warned_, true))
      fmt::print(stderr,
                 "reweave: no call stacks of code without instrumentation: process_vm_readv is forbidden here\n");
    if (found) request.stack = trace_.stack_of(request.thread, stack_.callers);
    keep(request);
  }
  request.answered.store(request.asked.load());
  syscall(SYS_futex, &request.answered, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

Unwinder& StackAnswers::unwinder_of(const CodeSpace& space) {
  KnownSpace& known = spaces_[space.process];
  if (known.unwinder == nullptr || known.space != space)
    known = {space, std::make_unique<Unwinder>(arena_.state().processes[space.process].real_pid)};
  return *known.unwinder;
}

// Caches the answer, so that the target does not ask again. A full cache is emptied.
void StackAnswers::keep(const StackRequest& request) {
  StackCache& cache = arena_.stack_cache();
  const std::uint64_t words = (sizeof(StackEntry) + stack_.words.size() * sizeof(StackWord)) / 8;
  if (cache.used == 0 || cache.used + words > kStackMemoryWords) {
    std::fill(std::begin(cache.buckets), std::end(cache.buckets), 0);
    cache.used = 1;
  }
  auto* entry = reinterpret_cast<StackEntry*>(cache.memory + cache.used);
  std::uint32_t& first = cache.buckets[request.bucket % kStackBuckets];
  entry->space = request.space;
  entry->rip = request.registers.rip;
  entry->rsp = request.registers.rsp;
  entry->next = first;
  entry->stack = request.stack;
  entry->word_count = stack_.words.size();
  std::copy(stack_.words.begin(), stack_.words.end(), entry->words);
  first = static_cast<std::uint32_t>(cache.used);
  cache.used += words;
}

}  // namespace reweave
