// operator new and delete in instrumented programs. They work like malloc and free (allocation.cc), so that a block is
// allocated and released by the code that says `new` or `delete`, and not by the C++ library.
//
// A program may replace some of these functions. The others are then the C++ library's, which calls the replaced ones
// as the standard says ([new.delete]): `new[]` calls `new`, and the `delete` that gets a size calls the one that gets
// none.
#include <cstddef>
#include <new>

#include "recorder/shim/real.h"
#include "recorder/shim/tsan/access.h"
#include "recorder/shim/tsan/allocation.h"

using std::align_val_t, std::nothrow_t, std::size_t;

// The operators, under the names that the Itanium C++ ABI gives them.
extern "C" {
void* _Znwm(size_t bytes);
void* _Znam(size_t bytes);
void _ZdlPv(void* block);
void _ZdaPv(void* block);
void* _ZnwmSt11align_val_t(size_t bytes, align_val_t alignment);
void* _ZnamSt11align_val_t(size_t bytes, align_val_t alignment);
void _ZdlPvSt11align_val_t(void* block, align_val_t alignment);
void _ZdaPvSt11align_val_t(void* block, align_val_t alignment);
}

namespace reweave::shim {

namespace {

extern "C" {
[[gnu::alias("_Znwm"), gnu::visibility("hidden")]] void* shim_own_new(size_t bytes);
[[gnu::alias("_Znam"), gnu::visibility("hidden")]] void* shim_own_new_array(size_t bytes);
[[gnu::alias("_ZdlPv"), gnu::visibility("hidden")]] void shim_own_delete(void* block);
[[gnu::alias("_ZdaPv"), gnu::visibility("hidden")]] void shim_own_delete_array(void* block);
[[gnu::alias("_ZnwmSt11align_val_t"), gnu::visibility("hidden")]] void* shim_own_aligned_new(size_t, align_val_t);
[[gnu::alias("_ZnamSt11align_val_t"), gnu::visibility("hidden")]] void* shim_own_aligned_new_array(size_t, align_val_t);
[[gnu::alias("_ZdlPvSt11align_val_t"), gnu::visibility("hidden")]] void shim_own_aligned_delete(void*, align_val_t);
[[gnu::alias("_ZdaPvSt11align_val_t"), gnu::visibility("hidden")]] void shim_own_aligned_delete_array(void*,
                                                                                                      align_val_t);
}

// A function that programs may replace: the one that the loader has bound, and ours. The pointers are volatile, because
// the compiler would otherwise assume that they are equal.
template <typename Function>
struct Replaceable {
  Function* const volatile bound;
  Function* const volatile own;
  bool replaced() const { return bound != own; }
};
const Replaceable<void*(size_t)> kNew[] = {{_Znwm, shim_own_new}, {_Znam, shim_own_new_array}};
const Replaceable<void(void*)> kDelete[] = {{_ZdlPv, shim_own_delete}, {_ZdaPv, shim_own_delete_array}};
const Replaceable<void*(size_t, align_val_t)> kAlignedNew[] = {{_ZnwmSt11align_val_t, shim_own_aligned_new},
                                                               {_ZnamSt11align_val_t, shim_own_aligned_new_array}};
const Replaceable<void(void*, align_val_t)> kAlignedDelete[] = {{_ZdlPvSt11align_val_t, shim_own_aligned_delete},
                                                                {_ZdaPvSt11align_val_t, shim_own_aligned_delete_array}};

template <typename Function>
bool any_of(const Replaceable<Function> (&forms)[2]) {
  return forms[0].replaced() || forms[1].replaced();
}
bool any_replaced() { return any_of(kNew) || any_of(kDelete) || any_of(kAlignedNew) || any_of(kAlignedDelete); }

// Allocates in the way that the form of operator new requires. operator new returns a block even for no bytes.
void* allocate_for(std::uint64_t pc, size_t bytes) { return allocate(bytes == 0 ? 1 : bytes, pc); }
void* allocate_for(std::uint64_t pc, size_t bytes, const nothrow_t&) { return allocate_for(pc, bytes); }
void* allocate_for(std::uint64_t pc, size_t bytes, align_val_t alignment) {
  return allocate_aligned(static_cast<size_t>(alignment), bytes == 0 ? 1 : bytes, pc);
}
void* allocate_for(std::uint64_t pc, size_t bytes, align_val_t alignment, const nothrow_t&) {
  return allocate_for(pc, bytes, alignment);
}

// `library`: the C++ library's form of the operator. If there is no memory, it calls the program's new-handler, and
// then throws or returns null.
template <typename... Arguments>
void* new_block(Real<void*(Arguments...)>& library, std::uint64_t pc, Arguments... arguments) {
  void* block = any_replaced() ? nullptr : allocate_for(pc, arguments...);
  return block != nullptr ? block : library(arguments...);
}

template <typename... More>
void delete_block(Real<void(void*, More...)>& library, std::uint64_t pc, void* block, More... more) {
  any_replaced() ? library(block, more...) : release(block, pc);
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave::shim;  // NOLINT: interposed functions are global

REWEAVE_EXPORT void* _Znwm(size_t bytes) {
  static Real<void*(size_t)> library = {"_Znwm"};
  return new_block<size_t>(library, REWEAVE_CALLER, bytes);
}
REWEAVE_EXPORT void* _ZnwmRKSt9nothrow_t(size_t bytes, const nothrow_t& nothrow) {
  static Real<void*(size_t, const nothrow_t&)> library = {"_ZnwmRKSt9nothrow_t"};
  return new_block<size_t, const nothrow_t&>(library, REWEAVE_CALLER, bytes, nothrow);
}
REWEAVE_EXPORT void* _ZnwmSt11align_val_t(size_t bytes, align_val_t alignment) {
  static Real<void*(size_t, align_val_t)> library = {"_ZnwmSt11align_val_t"};
  return new_block<size_t, align_val_t>(library, REWEAVE_CALLER, bytes, alignment);
}
REWEAVE_EXPORT void* _ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, align_val_t alignment, const nothrow_t& nothrow) {
  static Real<void*(size_t, align_val_t, const nothrow_t&)> library = {"_ZnwmSt11align_val_tRKSt9nothrow_t"};
  return new_block<size_t, align_val_t, const nothrow_t&>(library, REWEAVE_CALLER, bytes, alignment, nothrow);
}
REWEAVE_EXPORT void* _Znam(size_t bytes) {
  static Real<void*(size_t)> library = {"_Znam"};
  return new_block<size_t>(library, REWEAVE_CALLER, bytes);
}
REWEAVE_EXPORT void* _ZnamRKSt9nothrow_t(size_t bytes, const nothrow_t& nothrow) {
  static Real<void*(size_t, const nothrow_t&)> library = {"_ZnamRKSt9nothrow_t"};
  return new_block<size_t, const nothrow_t&>(library, REWEAVE_CALLER, bytes, nothrow);
}
REWEAVE_EXPORT void* _ZnamSt11align_val_t(size_t bytes, align_val_t alignment) {
  static Real<void*(size_t, align_val_t)> library = {"_ZnamSt11align_val_t"};
  return new_block<size_t, align_val_t>(library, REWEAVE_CALLER, bytes, alignment);
}
REWEAVE_EXPORT void* _ZnamSt11align_val_tRKSt9nothrow_t(size_t bytes, align_val_t alignment, const nothrow_t& nothrow) {
  static Real<void*(size_t, align_val_t, const nothrow_t&)> library = {"_ZnamSt11align_val_tRKSt9nothrow_t"};
  return new_block<size_t, align_val_t, const nothrow_t&>(library, REWEAVE_CALLER, bytes, alignment, nothrow);
}
REWEAVE_EXPORT void _ZdlPv(void* block) {
  static Real<void(void*)> library = {"_ZdlPv"};
  delete_block(library, REWEAVE_CALLER, block);
}
REWEAVE_EXPORT void _ZdlPvRKSt9nothrow_t(void* block, const nothrow_t& nothrow) {
  static Real<void(void*, const nothrow_t&)> library = {"_ZdlPvRKSt9nothrow_t"};
  delete_block<const nothrow_t&>(library, REWEAVE_CALLER, block, nothrow);
}
REWEAVE_EXPORT void _ZdlPvm(void* block, size_t bytes) {
  static Real<void(void*, size_t)> library = {"_ZdlPvm"};
  delete_block<size_t>(library, REWEAVE_CALLER, block, bytes);
}
REWEAVE_EXPORT void _ZdlPvSt11align_val_t(void* block, align_val_t alignment) {
  static Real<void(void*, align_val_t)> library = {"_ZdlPvSt11align_val_t"};
  delete_block<align_val_t>(library, REWEAVE_CALLER, block, alignment);
}
REWEAVE_EXPORT void _ZdlPvSt11align_val_tRKSt9nothrow_t(void* block, align_val_t alignment, const nothrow_t& nothrow) {
  static Real<void(void*, align_val_t, const nothrow_t&)> library = {"_ZdlPvSt11align_val_tRKSt9nothrow_t"};
  delete_block<align_val_t, const nothrow_t&>(library, REWEAVE_CALLER, block, alignment, nothrow);
}
REWEAVE_EXPORT void _ZdlPvmSt11align_val_t(void* block, size_t bytes, align_val_t alignment) {
  static Real<void(void*, size_t, align_val_t)> library = {"_ZdlPvmSt11align_val_t"};
  delete_block<size_t, align_val_t>(library, REWEAVE_CALLER, block, bytes, alignment);
}
REWEAVE_EXPORT void _ZdaPv(void* block) {
  static Real<void(void*)> library = {"_ZdaPv"};
  delete_block(library, REWEAVE_CALLER, block);
}
REWEAVE_EXPORT void _ZdaPvRKSt9nothrow_t(void* block, const nothrow_t& nothrow) {
  static Real<void(void*, const nothrow_t&)> library = {"_ZdaPvRKSt9nothrow_t"};
  delete_block<const nothrow_t&>(library, REWEAVE_CALLER, block, nothrow);
}
REWEAVE_EXPORT void _ZdaPvm(void* block, size_t bytes) {
  static Real<void(void*, size_t)> library = {"_ZdaPvm"};
  delete_block<size_t>(library, REWEAVE_CALLER, block, bytes);
}
REWEAVE_EXPORT void _ZdaPvSt11align_val_t(void* block, align_val_t alignment) {
  static Real<void(void*, align_val_t)> library = {"_ZdaPvSt11align_val_t"};
  delete_block<align_val_t>(library, REWEAVE_CALLER, block, alignment);
}
REWEAVE_EXPORT void _ZdaPvSt11align_val_tRKSt9nothrow_t(void* block, align_val_t alignment, const nothrow_t& nothrow) {
  static Real<void(void*, align_val_t, const nothrow_t&)> library = {"_ZdaPvSt11align_val_tRKSt9nothrow_t"};
  delete_block<align_val_t, const nothrow_t&>(library, REWEAVE_CALLER, block, alignment, nothrow);
}
REWEAVE_EXPORT void _ZdaPvmSt11align_val_t(void* block, size_t bytes, align_val_t alignment) {
  static Real<void(void*, size_t, align_val_t)> library = {"_ZdaPvmSt11align_val_t"};
  delete_block<size_t, align_val_t>(library, REWEAVE_CALLER, block, bytes, alignment);
}
