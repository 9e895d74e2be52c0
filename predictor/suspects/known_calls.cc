#include "predictor/suspects/known_calls.h"

#include <unordered_map>

namespace reweave {

namespace {

const std::unordered_map<std::string_view, KnownFunction>& table() {
  using enum KnownCall;
  static const std::unordered_map<std::string_view, KnownFunction> rows = {
      {"malloc", {kAllocates, 0}},
      {"calloc", {kAllocates, 0}},
      {"realloc", {kAllocates, 0}},
      {"reallocarray", {kAllocates, 0}},
      {"aligned_alloc", {kAllocates, 0}},
      {"memalign", {kAllocates, 0}},
      {"valloc", {kAllocates, 0}},
      {"strdup", {kAllocates, 0}},
      {"strndup", {kAllocates, 0}},
      {"mmap", {kAllocates, 0}},
      {"mmap64", {kAllocates, 0}},
      {"fopen", {kAllocates, 0}},
      {"fopen64", {kAllocates, 0}},
      {"_Znwm", {kAllocates, 0}},
      {"_Znam", {kAllocates, 0}},
      {"_ZnwmRKSt9nothrow_t", {kAllocates, 0}},
      {"_ZnamRKSt9nothrow_t", {kAllocates, 0}},
      {"_ZnwmSt11align_val_t", {kAllocates, 0}},
      {"_ZnamSt11align_val_t", {kAllocates, 0}},
      {"__cxa_allocate_exception", {kAllocates, 0}},
      {"free", {kFrees, 0}},
      {"_ZdlPv", {kFrees, 0}},
      {"_ZdaPv", {kFrees, 0}},
      {"_ZdlPvm", {kFrees, 0}},
      {"_ZdaPvm", {kFrees, 0}},
      {"_ZdlPvmSt11align_val_t", {kFrees, 0}},
      {"munmap", {kFrees, 0}},
      {"fclose", {kFrees, 0}},
      {"posix_memalign", {kAllocatesAt, 0}},
      {"asprintf", {kAllocatesAt, 0}},
      {"getline", {kAllocatesAt, 0}},
      {"memcpy", {kCopies, 0}},
      {"memmove", {kCopies, 0}},
      {"__memcpy_chk", {kCopies, 0}},
      {"__memmove_chk", {kCopies, 0}},
      {"memset", {kReturnsIt, 0}},
      {"strcpy", {kReturnsIt, 0}},
      {"strncpy", {kReturnsIt, 0}},
      {"strcat", {kReturnsIt, 0}},
      {"strncat", {kReturnsIt, 0}},
      {"strchr", {kReturnsIt, 0}},
      {"strrchr", {kReturnsIt, 0}},
      {"strstr", {kReturnsIt, 0}},
      {"memchr", {kReturnsIt, 0}},
      {"fgets", {kReturnsIt, 0}},
      {"__dynamic_cast", {kReturnsIt, 0}},
      {"__cxa_begin_catch", {kReturnsIt, 0}},
      {"pthread_create", {kStartsThread, 2}},
      {"thrd_create", {kStartsThread, 1}},
      {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE", {kStartsObject, 1}},
      {"__kmpc_fork_call", {kStartsTeam, 2}},
      {"pthread_join", {kJoins, 0}},
      {"pthread_tryjoin_np", {kJoins, 0}},
      {"pthread_timedjoin_np", {kJoins, 0}},
      {"thrd_join", {kJoins, 0}},
      {"_ZNSt6thread4joinEv", {kJoinsObject, 0}},
      {"pthread_mutex_lock", {kLocks, 0}},
      {"pthread_mutex_trylock", {kLocks, 0}},
      {"pthread_mutex_timedlock", {kLocks, 0}},
      {"pthread_mutex_clocklock", {kLocks, 0}},
      {"pthread_mutex_unlock", {kUnlocks, 0}},
      {"pthread_spin_lock", {kLocks, 0}},
      {"pthread_spin_trylock", {kLocks, 0}},
      {"pthread_spin_unlock", {kUnlocks, 0}},
      {"pthread_rwlock_wrlock", {kLocks, 0}},
      {"pthread_rwlock_trywrlock", {kLocks, 0}},
      {"pthread_rwlock_timedwrlock", {kLocks, 0}},
      {"pthread_rwlock_rdlock", {kLocksShared, 0}},
      {"pthread_rwlock_tryrdlock", {kLocksShared, 0}},
      {"pthread_rwlock_timedrdlock", {kLocksShared, 0}},
      {"pthread_rwlock_unlock", {kUnlocks, 0}},
      {"mtx_lock", {kLocks, 0}},
      {"mtx_trylock", {kLocks, 0}},
      {"mtx_timedlock", {kLocks, 0}},
      {"mtx_unlock", {kUnlocks, 0}},
      {"omp_set_lock", {kLocks, 0}},
      {"omp_test_lock", {kLocks, 0}},
      {"omp_unset_lock", {kUnlocks, 0}},
      {"__kmpc_critical", {kLocks, 2}},
      {"__kmpc_critical_with_hint", {kLocks, 2}},
      {"__kmpc_end_critical", {kUnlocks, 2}},
      {"__kmpc_barrier", {kBarrier, 0}},
      {"pthread_barrier_wait", {kBarrier, 0}},
      {"pthread_once", {kOnce, 1}},
      {"call_once", {kOnce, 1}},
      {"atexit", {kCallsBack, 0}},
      {"on_exit", {kCallsBack, 0}},
      {"__cxa_atexit", {kCallsBack, 0}},
      {"qsort", {kCallsBack, 3}},
      {"bsearch", {kCallsBack, 4}},
  };
  return rows;
}

}  // namespace

KnownFunction known_function(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? KnownFunction{} : found->second;
}

}  // namespace reweave
