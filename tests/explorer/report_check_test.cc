// A report is rejected if its counts do not support one of its numbers.
#define BOOST_TEST_MODULE report_check
#include "explorer/explain/report_check.h"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

namespace reweave {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

// Real reports: a broken block in bank_account.c, a deadlock in lock_order.c, a pair in sleep_as_order.c, and two
// orders that fail only together in lost_notify.c.
json real_report(const std::string& name) {
  std::ifstream in(std::string(REWEAVE_REPORTS) + "/" + name + ".json");
  BOOST_REQUIRE(in.good());
  return json::parse(in);
}
const char* const kNames[] = {"bank_account", "lock_order", "sleep_as_order", "lost_notify"};

// True for values that nothing else in the report confirms. The check notices only impossible ones.
bool is_said_once(const json& report, const std::string& where) {
  static const std::regex once(
      "/runs|/reordered_pairs|.*/let_go|"
      "/(failing|passing)/(choices|steps/[0-9]+/(number|choice|thread))|"
      "/passing/steps/.*|"
      "/patterns/[0-9]+/accesses/[0-9]+/thread|"  // an example thread
      "/patterns/[0-9]+/worst_rank|"              // ties with patterns that are left out
      "/inevitable_step/thread|/curve/[0-9]+/choice");
  const Pointer pointer(where);
  const bool not_reached = report.at(pointer.parent_pointer()).contains("not_reached");  // the step is in no schedule
  const std::string member = pointer.back();
  return std::regex_match(where, once) || (not_reached && (member == "number" || member == "choice"));
}

BOOST_AUTO_TEST_CASE(real_reports_are_borne_out) {
  for (const char* name : kNames)
    BOOST_TEST(check_report(real_report(name)).value_or("borne out") == "borne out", name);
}

BOOST_AUTO_TEST_CASE(each_number_that_is_another_is_noticed) {
  for (const char* name : kNames) {
    const json report = real_report(name);
    const json flat = report.flatten();
    int changed = 0;
    for (const auto& [where, value] : flat.items()) {
      if (!value.is_number()) continue;
      json other = report;
      other[Pointer(where)] =
          value.is_number_float() ? json(value.get<double>() * 0.99 + 0.001) : json(value.get<int>() + 1);
      changed++;
      if (!is_said_once(report, where)) BOOST_TEST(check_report(other).has_value(), name << " " << where);
      other[Pointer(where)] = -1;
      BOOST_TEST(check_report(other).has_value(), name << " " << where << " of -1");
    }
    BOOST_TEST(changed > 100);
  }
}

BOOST_AUTO_TEST_CASE(each_word_of_the_sentences_counts) {
  for (const char* name : kNames) {
    const json report = real_report(name);
    for (const char* where : {"/cause", "/flips/0/first/does", "/flips/0/then/place", "/flips/0/first/file",
                              "/flips/0/then/function", "/remedies/0/text", "/flips/0/first/object"}) {
      json other = report;
      other[Pointer(where)] = report.at(Pointer(where)).get<std::string>() + "x";
      BOOST_TEST(check_report(other).has_value(), name << " " << where);
    }
    for (const char* where : {"/flips/0/necessary", "/cause_shown"}) {
      json other = report;
      other[Pointer(where)] = !report.at(Pointer(where)).get<bool>();
      BOOST_TEST(check_report(other).has_value(), name << " " << where);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_moment_follows_from_the_curve) {
  json report = real_report("bank_account");
  report["inevitable"] = json();
  BOOST_TEST(check_report(report).has_value());
  report = real_report("bank_account");
  std::swap(report["patterns"][0], report["patterns"][1]);
  BOOST_TEST(check_report(report).has_value());
  report = real_report("lock_order");
  std::swap(report["deadlock"][0]["wants"], report["deadlock"][1]["wants"]);
  BOOST_TEST(check_report(report).has_value());
}

BOOST_AUTO_TEST_CASE(orders_are_together_only_if_each_is_needed) {
  const json report = real_report("lost_notify");
  for (const char* where : {"/together/orders/0/first/does", "/together/orders/1/then/place"}) {
    json other = report;
    other[Pointer(where)] = report.at(Pointer(where)).get<std::string>() + "x";
    BOOST_TEST(check_report(other).has_value(), where);
  }
  json not_needed = report;
  not_needed["together"]["orders"][0]["broken"] = report["together"]["forced"];
  BOOST_TEST(check_report(not_needed).has_value());
  json one = report;
  one["together"]["orders"].erase(1);
  BOOST_TEST(check_report(one).has_value());
  json none = report;
  none["together"] = json();
  BOOST_TEST(check_report(none).has_value());
}

BOOST_AUTO_TEST_CASE(what_is_no_report_is_not_borne_out) {
  BOOST_TEST(check_report(json::object()).has_value());
  BOOST_TEST(check_report(json::array()).has_value());
}

}  // namespace
}  // namespace reweave
