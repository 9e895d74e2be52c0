#include "predictor/races/tsan_options.h"

#include <charconv>
#include <variant>

#include "formats/base/error.h"

namespace reweave {

namespace {

using Field = std::variant<bool TsanOptions::*, int TsanOptions::*, std::string TsanOptions::*>;
struct OptionRow {
  const char* name;
  Field field;
};
const OptionRow kOptions[] = {
    {"report_bugs", &TsanOptions::report_bugs},
    {"halt_on_error", &TsanOptions::halt_on_error},
    {"exitcode", &TsanOptions::exit_status},
    {"suppressions", &TsanOptions::suppressions},
    {"log_path", &TsanOptions::log_path},
    {"print_suppressions", &TsanOptions::print_suppressions},
    {"report_thread_leaks", &TsanOptions::report_thread_leaks},
    {"report_mutex_bugs", &TsanOptions::report_mutex_bugs},
    {"report_destroy_locked", &TsanOptions::report_destroy_locked},
    {"report_atomic_races", &TsanOptions::report_atomic_races},
    {"detect_deadlocks", &TsanOptions::detect_deadlocks},
    {"strip_path_prefix", &TsanOptions::strip_path_prefix},
};

bool truth_of(const std::string& name, const std::string& value) {
  if (value == "1" || value == "yes" || value == "true") return true;
  REQUIRE(value == "0" || value == "no" || value == "false", "TSAN_OPTIONS: {}={} is neither yes nor no", name, value);
  return false;
}

int number_of(const std::string& name, const std::string& value) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  REQUIRE(error == std::errc{} && end == value.data() + value.size(), "TSAN_OPTIONS: {}={} is not a number", name,
          value);
  return number;
}

void set(TsanOptions& options, const std::string& name, const std::string& value) {
  for (const OptionRow& row : kOptions) {
    if (name != row.name) continue;
    if (const auto* field = std::get_if<bool TsanOptions::*>(&row.field)) options.** field = truth_of(name, value);
    if (const auto* field = std::get_if<int TsanOptions::*>(&row.field)) options.** field = number_of(name, value);
    if (const auto* field = std::get_if<std::string TsanOptions::*>(&row.field)) options.** field = value;
  }
}

}  // namespace

TsanOptions TsanOptions::parse(const std::string& text) {
  constexpr const char* kBetween = " ,:\n\t\r";
  TsanOptions options;
  for (std::size_t at = text.find_first_not_of(kBetween); at < text.size();) {
    const std::size_t equals = text.find('=', at);
    REQUIRE(equals != text.npos, "TSAN_OPTIONS: '{}' has no value", text.substr(at));
    const std::string name = text.substr(at, equals - at);
    std::size_t begin = equals + 1, end = 0;
    if (begin < text.size() && (text[begin] == '\'' || text[begin] == '"')) {
      end = text.find(text[begin], begin + 1);
      REQUIRE(end != text.npos, "TSAN_OPTIONS: the quote of {} has no end", name);
      begin++;
      set(options, name, text.substr(begin, end - begin));
      at = text.find_first_not_of(kBetween, end + 1);
      continue;
    }
    end = std::min(text.find_first_of(kBetween, begin), text.size());
    set(options, name, text.substr(begin, end - begin));
    at = text.find_first_not_of(kBetween, end);
  }
  return options;
}

}  // namespace reweave
