// malloc and its kin in instrumented programs: the trace learns of blocks, and freed ones can be watched.
// glibc's own allocator does the work, under the names that it exports beside the interposable ones.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "recorder/shim/tsan/access.h"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
std::size_t malloc_usable_size(void*);
}

namespace reweave::shim {

namespace {

bool watching() { return config().detect_now != 0; }

std::uint8_t* shadow_of(std::uint64_t address) { return reinterpret_cast<std::uint8_t*>(kShadowBase + (address >> 4)); }

// Freed blocks in the order of their release, poisoned until they leave.
constexpr std::uint32_t kQuarantineBlocks = 4096;
constexpr std::uint64_t kQuarantineBytes = 16 << 20;
struct Quarantine {
  void* blocks[kQuarantineBlocks];
  std::uint32_t first, count;
  std::uint64_t bytes;
};
Quarantine quarantine;

// Marks the part of a block that its user had. glibc keeps the size of the next block in the last word.
void mark(void* block, std::uint8_t value) {
  const auto start = address_of(block);
  const std::uint64_t granules = (malloc_usable_size(block) + 8) / 16;
  std::uint8_t* shadow = shadow_of(start);
  for (std::uint64_t i = 0; i < granules; i++) shadow[i] = value;
}

void release_oldest() {
  void* block = quarantine.blocks[quarantine.first];
  quarantine.first = (quarantine.first + 1) % kQuarantineBlocks;
  quarantine.count--;
  quarantine.bytes -= malloc_usable_size(block);
  mark(block, 0);
  __libc_free(block);
}

void quarantine_block(void* block) {
  mark(block, kFreed);
  while (quarantine.count == kQuarantineBlocks || (quarantine.count > 0 && quarantine.bytes > kQuarantineBytes))
    release_oldest();
  quarantine.blocks[(quarantine.first + quarantine.count) % kQuarantineBlocks] = block;
  quarantine.count++;
  quarantine.bytes += malloc_usable_size(block);
}

void* allocated(void* block, std::size_t bytes, std::uint64_t pc) {
  if (block != nullptr) note(EventKind::kAlloc, block, pc, 0, bytes);
  return block;
}

void release(void* block, std::uint64_t pc) {
  if (block == nullptr) return;
  point(OpKind::kOther, block, pc, static_cast<std::uint32_t>(malloc_usable_size(block)));
  if (watching() && *shadow_of(address_of(block)) == kFreed) api().memory_error("double free", address_of(block), pc);
  note(EventKind::kFree, block, pc);
  if (watching()) return quarantine_block(block);
  __libc_free(block);
}

}  // namespace

void report_freed(std::uint64_t address, std::uint64_t pc) {
  api().memory_error("use after free", address, pc);
  __builtin_unreachable();
}

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

REWEAVE_EXPORT void* malloc(std::size_t bytes) { return allocated(__libc_malloc(bytes), bytes, REWEAVE_CALLER); }

REWEAVE_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
  return allocated(__libc_calloc(count, bytes), count * bytes, REWEAVE_CALLER);
}

// A block that moves is a new one: what the program still reads of the old is a use after free. When watching it always
// moves; a trace must leave the heap as it was recorded.
REWEAVE_EXPORT void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr || !watching()) {
    if (block != nullptr) note(EventKind::kFree, block, REWEAVE_CALLER, kSamePoint);
    return allocated(__libc_realloc(block, bytes), bytes, REWEAVE_CALLER);
  }
  if (bytes == 0) {
    release(block, REWEAVE_CALLER);
    return nullptr;
  }
  void* fresh = allocated(__libc_malloc(bytes), bytes, REWEAVE_CALLER);
  if (fresh == nullptr) return nullptr;
  const std::size_t old = malloc_usable_size(block);
  __builtin_memcpy(fresh, block, old < bytes ? old : bytes);
  release(block, REWEAVE_CALLER);
  return fresh;
}

REWEAVE_EXPORT void free(void* block) { release(block, REWEAVE_CALLER); }

REWEAVE_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  return allocated(__libc_memalign(alignment, bytes), bytes, REWEAVE_CALLER);
}
REWEAVE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocated(__libc_memalign(alignment, bytes), bytes, REWEAVE_CALLER);
}
REWEAVE_EXPORT int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* block = allocated(__libc_memalign(alignment, bytes), bytes, REWEAVE_CALLER);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}
