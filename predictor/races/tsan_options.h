// The options of ThreadSanitizer (TSAN_OPTIONS) that affect race reports. Others are accepted and ignored.
#pragma once

#include <string>

namespace reweave {

struct TsanOptions {
  bool report_bugs = true;
  bool halt_on_error = false;  // stop after the first report
  int exit_status = 66;        // `exitcode`; 0: keep the program's own
  std::string suppressions;    // file
  std::string log_path;        // "stdout", "stderr" (or empty), or a file name to which ".PID" is added
  bool print_suppressions = true;
  bool report_thread_leaks = true;
  bool report_mutex_bugs = true;
  bool report_destroy_locked = true;
  bool report_atomic_races = true;
  bool detect_deadlocks = true;
  std::string strip_path_prefix;

  // Parses the value of the variable. Throws BadInput.
  static TsanOptions parse(const std::string& text);
};

}  // namespace reweave
