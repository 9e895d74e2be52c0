#include "recorder/supervisor/process/heap.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace reweave {

void prepare_heap() {
  // Buffers are allocated and freed for each block. If they were returned to the system each time, faulting their pages
  // in again would cost more than filling them.
  constexpr int kMost = 64 << 20;
  mallopt(M_MMAP_THRESHOLD, kMost);
  mallopt(M_TRIM_THRESHOLD, kMost);
  constexpr int kForStart = 256 << 10;
  mallopt(M_TOP_PAD, kForStart);
  enlarge_heap(kForStart);
}

void enlarge_heap(std::size_t bytes) {
  constexpr std::uintptr_t kPage = 4096;
  void* const next = std::malloc(bytes + kPage);  // where the heap continues
  if (next == nullptr) return;
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(next) + kPage - 1) & ~(kPage - 1);
  madvise(reinterpret_cast<void*>(first), bytes, MADV_POPULATE_WRITE);  // if the kernel supports it
  std::free(next);
}

}  // namespace reweave
