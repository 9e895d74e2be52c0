// The options of ThreadSanitizer (TSAN_OPTIONS) that reports of races are made by. Others are accepted, and mean
// nothing here.
#pragma once

#include <string>

namespace reweave {

struct TsanOptions {
  bool report_bugs = true;
  bool halt_on_error = false;  // the first report only
  int exit_status = 66;        // `exitcode`; 0: the program's own
  std::string suppressions;    // file
  std::string log_path;        // "stdout", "stderr" (or empty), or the beginning of a file's name; ".PID" follows
  bool print_suppressions = true;
  bool report_thread_leaks = true;
  bool report_mutex_bugs = true;
  bool report_destroy_locked = true;
  bool report_atomic_races = true;
  bool detect_deadlocks = true;
  std::string strip_path_prefix;

  // Of the text that the variable has. Throws BadInput.
  static TsanOptions parse(const std::string& text);
};

}  // namespace reweave
