// Program images: loads an ELF program and its interpreter at addresses that the core chooses, and exec.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core_api.h"

namespace reweave::core {

// The arguments with which a program is started.
struct StartArgs {
  const char* path;  // where the file is
  const char* name;  // as given to exec
  long argc;
  char** argv;
  char** envp;
  const std::uint64_t* auxv;  // the kernel's, as the core got it
  bool first;                 // program of the run
};

// From now on the main stack may have `limit` bytes (RLIMIT_STACK). They are mapped at once, because the stack does not
// grow by faults. It never shrinks.
void grow_stack(std::uint64_t limit);

// A `#!` line split into interpreter and its one argument.
struct HashBang {
  char line[256];
  const char* interpreter;
  const char* argument;  // null: none
};

// The longest chain of scripts that name each other as interpreters (execve(2)).
inline constexpr int kMaxInterpreters = 5;

// `head` is the first `bytes` of a file. False: it is not a script, or names no interpreter.
bool parse_hash_bang(const unsigned char* head, long bytes, HashBang& out);

// Loads the program and jumps to its first instruction. In a replay, its files and initial state are the recorded ones.
[[noreturn]] void start_program(const StartArgs& args);

const char* program_path();  // absolute, as it was named when it started
// The path of the program to which `path` leads, if `path` is /proc/PID/exe of a process of the tree; else null. For
// the calling process the result still leads to the file after it was renamed, removed or put out of reach, but only
// while recording.
const char* program_behind(const char* path);
bool is_own_program(const char* path);  // true for that path
// The program in memory; its dynamic section is 0 if it has none.
LoadedObject loaded_program();
std::uint64_t program_end();
// True if the program gets the shim of instrumented programs in addition to the ordinary one, although it does not ask
// for ThreadSanitizer's runtime as a library: the runtime is linked into it (static_runtime.h), or the program has
// sleds (sleds.h).
bool needs_tsan_shim();
bool in_interpreter(std::uint64_t ip);

}  // namespace reweave::core
