// reweave::check: runs a function under many thread schedules, from inside any test.
//
//   TEST(Queue, PushAndPop) {
//     const auto result = reweave::check([] {
//       Queue queue;
//       std::thread other([&] { queue.push(1); });
//       queue.pop();
//       other.join();
//     });
//     ASSERT_TRUE(result) << result.message();
//   }
//
// The first time a process reaches a check, it restarts itself under `reweave record`, up to the check; `reweave
// explore` then runs only the function under many schedules, each in a process of its own. A failure is kept as a
// recording that fails in each replay; result.message() says where it is and what causes it. The function fails if it
// throws, aborts, is killed, deadlocks, hangs or uses freed memory, or if reweave_assert or Options::failed reports a
// failure.
//
// If `reweave` is not on the PATH, and in processes that Reweave itself runs, a check is one plain call. Build with
// reweave-cc or -fsanitize=thread to let threads be stopped at each memory access. Otherwise they are stopped only at
// locks, system calls and reweave::point(). The function must start its own threads and join them: no other thread may
// run meanwhile. The process is run again with the same arguments; its behaviour before the check should be the same
// each time.
//
// reweave::choose(n) gives inputs that vary from schedule to schedule: which operation a thread calls, and with what.
// The recording of a failure contains the values that led to it.
//
// C++17, header only, no library. Linux.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Reweave's runtime; null in other processes.
extern "C" __attribute__((weak)) void reweave_point();
extern "C" __attribute__((weak)) unsigned long reweave_choose(unsigned long count);
// Explored runs begin here; explore finds this function by its name.
extern "C" __attribute__((weak, noinline, used)) void reweave_check_body(void (*call)(void*), void* data) {
  call(data);
  asm volatile("" ::: "memory");
}

namespace reweave {

struct Options {
  unsigned schedules = 1000;  // largest number of schedules to try
  double seconds = 60;        // limit of time; 0: none
  unsigned seed = 1;          // the same seed gives the same schedules
  std::string folder = {};    // for the recording of a failure; empty: a new folder below $TMPDIR, or /tmp
  std::string reweave = {};   // the program; empty: $REWEAVE, or `reweave` on the PATH
  std::vector<std::string> arguments = {};  // additional arguments for `reweave explore`
  // Called after the function has returned; true: it failed nevertheless. If GoogleTest is included before this header,
  // its HasFailure() is called as well.
  std::function<bool()> failed = {};
};

class Result {
 public:
  // True if nothing failed.
  explicit operator bool() const { return !failed_; }
  // True if schedules were tried; false: the function was called once, and message() says why.
  bool explored() const { return explored_; }
  // The failing recording; empty if there is none.
  const std::string& recording() const { return recording_; }
  // The path of the failing recording and the cause of the failure. If nothing failed: what was searched, or why
  // nothing was.
  const std::string& message() const { return message_; }

 private:
  friend class Checker;
  bool failed_ = false, explored_ = false;
  std::string recording_, message_;
};

// Marks a place where another thread may run.
__attribute__((always_inline)) inline void point() {
  if (reweave_point != nullptr) reweave_point();
}

// A number from 0 to count - 1, the same in each replay of a run; 0 outside of a search. `count` must not be 0.
inline unsigned long choose(unsigned long count) { return reweave_choose != nullptr ? reweave_choose(count) : 0; }

class Checker {
 public:
  Checker(std::function<void()> body, const Options& options) : body_(std::move(body)), options_(options) {}

  Result check() {
    static std::atomic<unsigned> checks{0};
    const unsigned number = ++checks;
    if (const char* wanted = std::getenv("REWEAVE_CHECK")) {
      if (std::to_string(number) == wanted) run_alone();
      return plain("this process is run by Reweave");
    }
    if (reweave_point != nullptr) return plain("this process is run by Reweave");
    return explore(number);
  }

 private:
  static constexpr int kFailed = 99;  // exit status of a function that failed without a signal

  // In a process that Reweave runs: calls only the function.
  [[noreturn]] void run_alone() {
    reweave_check_body([](void* that) { static_cast<Checker*>(that)->call_and_exit(); }, this);
    std::abort();  // not reached
  }
  [[noreturn]] void call_and_exit() {
    bool failed = false;
    try {
      body_();
      failed = asked_failed();
    } catch (const std::exception& thrown) {
      std::fprintf(stderr, "the checked function threw: %s\n", thrown.what());
      failed = true;
    } catch (...) {
      std::fprintf(stderr, "the checked function threw\n");
      failed = true;
    }
    std::fflush(nullptr);
    _exit(failed ? kFailed : 0);
  }
  bool asked_failed() const {
#if defined(GOOGLETEST_INCLUDE_GTEST_GTEST_H_) || defined(GTEST_INCLUDE_GTEST_GTEST_H_)
    if (::testing::Test::HasFailure()) return true;
#endif
    return options_.failed && options_.failed();
  }

  Result plain(const std::string& why) {
    Result result;
    result.message_ = "called once, without other schedules: " + why;
    body_();
    return result;
  }

  Result explore(unsigned number) {
    const std::string program = program_name();
    const std::string folder = new_folder();
    if (folder.empty()) return plain("no folder could be made for its files");
    const std::string run = folder + "/run", found = folder + "/found", log = folder + "/log";
    std::vector<std::string> record = {program, "record", "-o", run, "--"};
    for (const std::string& argument : own_arguments()) record.push_back(argument);
    const int recorded = start(record, log, "REWEAVE_CHECK=" + std::to_string(number));
    if (recorded == kNotStarted) return remove(folder), plain(program + " is not there");
    if (access(run.c_str(), F_OK) != 0 || is_refusal(recorded)) return cannot(folder, log);
    if (recorded != 0) return failure(run, log);
    std::vector<std::string> explore = {program,     "explore",
                                        run,         "-o",
                                        found,       "--first",
                                        "--fork-at", "reweave_check_body",
                                        "--runs",    std::to_string(options_.schedules),
                                        "--seconds", std::to_string(options_.seconds),
                                        "--seed",    std::to_string(options_.seed),
                                        "--verify",  "1"};
    explore.insert(explore.end(), options_.arguments.begin(), options_.arguments.end());
    const int explored = start(explore, log, "");
    constexpr int kFailureFound = 10;
    if (explored == kFailureFound) return failure(found + "/failure-1", log);
    if (explored != 0) return cannot(folder, log);
    Result result;
    result.explored_ = true;
    result.message_ = "no schedule that was tried fails:\n" + read(log);
    const std::string::size_type limit = result.message_.find("memory accesses were not schedule points");
    if (limit != std::string::npos)
      std::fprintf(stderr, "reweave::check: %s\n",
                   result.message_.substr(limit, result.message_.find('\n', limit) - limit).c_str());
    remove(folder);
    body_();  // the plain call, for its other effects on the test
    return result;
  }

  Result failure(const std::string& recording, const std::string& log) {
    Result result;
    result.failed_ = result.explored_ = true;
    result.recording_ = recording;
    result.message_ = "a schedule fails: reweave replay -g end " + recording + "\n" + read(log);
    return result;
  }
  Result cannot(const std::string& folder, const std::string& log) {
    const std::string why = read(log);
    remove(folder);
    Result result = plain(why);
    std::fprintf(stderr, "reweave::check: %s\n", result.message_.c_str());
    return result;
  }

  std::string program_name() const {
    if (!options_.reweave.empty()) return options_.reweave;
    const char* named = std::getenv("REWEAVE");
    return named != nullptr && *named != 0 ? named : "reweave";
  }

  std::string new_folder() const {
    if (!options_.folder.empty()) return mkdir(options_.folder.c_str(), 0700) == 0 ? options_.folder : "";
    const char* temporary = std::getenv("TMPDIR");
    std::string name =
        std::string(temporary != nullptr && *temporary != 0 ? temporary : "/tmp") + "/reweave-check-XXXXXX";
    return mkdtemp(name.data()) == nullptr ? "" : name;
  }

  // This process's program and arguments.
  static std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline");
    const std::string all((std::istreambuf_iterator<char>(file)), {});
    std::vector<std::string> arguments;
    for (std::size_t at = 0; at < all.size(); at += arguments.back().size() + 1) arguments.push_back(all.c_str() + at);
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length > 0 && !arguments.empty()) arguments.front().assign(path, static_cast<std::size_t>(length));
    return arguments;
  }

  static constexpr int kNotStarted = -1;

  // Runs a command with its output to `log`. Returns its exit status, 128 + N if signal N ended it, or kNotStarted.
  static int start(const std::vector<std::string>& command, const std::string& log, const std::string& variable) {
    std::vector<char*> words, environment;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    for (char** each = environ; *each != nullptr; each++) environment.push_back(*each);
    if (!variable.empty()) environment.push_back(const_cast<char*>(variable.c_str()));
    environment.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    pid_t pid = 0;
    const int error = posix_spawnp(&pid, words.front(), &files, nullptr, words.data(), environment.data());
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) return kNotStarted;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // True if `reweave record` did not run the program to its end.
  static bool is_refusal(int status) { return status == 2 || status == 4 || status == 5 || status == 70; }

  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }

  static void remove(const std::string& folder) { start({"rm", "-rf", "--", folder}, "/dev/null", ""); }

  std::function<void()> body_;
  Options options_;
};

// Runs `body` under many schedules. Passes on exceptions of a plain call of `body`.
template <typename Body>
Result check(Body&& body, const Options& options = {}) {
  return Checker(std::function<void()>(std::forward<Body>(body)), options).check();
}

[[noreturn]] inline void assertion_failed(const char* text, const char* file, int line, const char* function) {
  std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, text);
  std::abort();
}

}  // namespace reweave

// Like assert(3), regardless of NDEBUG.
#define reweave_assert(condition) \
  ((condition) ? (void)0 : reweave::assertion_failed(#condition, __FILE__, __LINE__, __func__))
