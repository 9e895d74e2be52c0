#include "explorer/words/manners.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "explorer/words/seconds.h"
#include "formats/base/terminal.h"

namespace reweave {

namespace {

const auto kBegin = std::chrono::steady_clock::now();

const std::map<std::string, ColorChoice> kColors = {
    {"auto", ColorChoice::kAuto}, {"always", ColorChoice::kAlways}, {"never", ColorChoice::kNever}};

}  // namespace

void add_manners(CLI::App& app) {
  for (CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_group().empty()) continue;  // for Reweave itself
    if (verb->get_option_no_throw("--quiet") == nullptr)
      verb->add_flag_callback(
          "-q,--quiet", [] { set_loudness(Loudness::kQuiet); },
          "print only results, errors, and why a result is incomplete: no progress, no notices");
    verb->add_flag_callback(
        "-v,--verbose", [] { set_loudness(Loudness::kVerbose); }, "print each step and its cost");
    verb->add_option_function<std::string>(
            "--color", [](const std::string& when) { set_colors(kColors.at(when)); },
            "auto (the default: on terminals, unless NO_COLOR is set), always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->type_name("WHEN");
  }
}

void tell_costs(std::string_view verb) {
  rusage own{}, children{};
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  const double used = seconds_in(own.ru_utime) + seconds_in(own.ru_stime) + seconds_in(children.ru_utime) +
                      seconds_in(children.ru_stime);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - kBegin;
  detail("{}: {:.2f} s, {:.2f} s of processor time, at most {} MB in one process", verb, passed.count(), used,
         std::max(own.ru_maxrss, children.ru_maxrss) / 1024);
}

}  // namespace reweave
