// The C library's function that an interposed one replaces, looked up at the first call.
#pragma once

#include <dlfcn.h>

namespace reweave::shim {

// One per interposed function, at namespace scope: constant-initialised, so usable before any constructor has run.
template <typename Function>
struct Real;

template <typename Result, typename... Args>
struct Real<Result(Args...)> {
  const char* name;
  Result (*found)(Args...) = nullptr;
  Result operator()(Args... args) {
    if (__builtin_expect(found == nullptr, 0)) found = reinterpret_cast<Result (*)(Args...)>(dlsym(RTLD_NEXT, name));
    return found(args...);
  }
};

}  // namespace reweave::shim
