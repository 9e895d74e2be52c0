// Program images: loading an ELF program and its interpreter at places of ours, and exec.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core_api.h"

namespace reweave::core {

// What the program starts with.
struct StartArgs {
  const char* path;  // where it is
  const char* name;  // as given to exec
  long argc;
  char** argv;
  char** envp;
  const std::uint64_t* auxv;  // the kernel's, of the core
  bool first;                 // of the run
};

// The main stack may have `limit` bytes from now on (RLIMIT_STACK). It has all of them at once, for it does not grow by
// faults; it has never less than it had.
void grow_stack(std::uint64_t limit);

// A `#!` line split into interpreter and its one argument.
struct HashBang {
  char line[256];
  const char* interpreter;
  const char* argument;  // null: none
};

// How many scripts may lead to each other (execve(2)).
inline constexpr int kMaxInterpreters = 5;

// `head` is the first `bytes` of a file. False: it is no script, or names no interpreter.
bool parse_hash_bang(const unsigned char* head, long bytes, HashBang& out);

// Loads the program and jumps to its first instruction. Replaying, its files and initial state are the recorded.
[[noreturn]] void start_program(const StartArgs& args);

const char* program_path();  // absolute, as it was called when it started
// The program that `path` leads to if that is the link to a program of the tree, /proc/PID/exe; else null. Of the
// calling process itself this is a path that leads there after the file was renamed, removed or put out of reach, and
// only while recording.
const char* program_behind(const char* path);
bool is_own_program(const char* path);  // such a path
// The program in memory; its dynamic section is 0 if it has none.
LoadedObject loaded_program();
std::uint64_t program_end();
// True if ThreadSanitizer's runtime is linked into the program (static_runtime.h).
bool has_static_runtime();
bool in_interpreter(std::uint64_t ip);

}  // namespace reweave::core
