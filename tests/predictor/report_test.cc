#define BOOST_TEST_MODULE predictor_report
#include <boost/test/unit_test.hpp>

#include <sstream>

#include "predictor/predict.h"
#include "predictor/report/report.h"
#include "tests/predictor/std_trace.h"

namespace reweave::testing {
namespace {

std::string report(const TraceModel& model, const std::string& analysis) {
  Names names;
  names.site = [](std::uint32_t site) { return "f at prog.c:" + std::to_string(site); };
  names.address = [](std::uint64_t) { return std::string("balance"); };
  std::ostringstream out;
  write_report(out, model, predict(model, {.analyses = {analysis}}), names, {.witness = true});
  return out.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(lost_update) {
  const std::string text = report(
      std_model("T1 acq(l); T1 r(balance); T1 rel(l); T1 acq(l); T1 w(balance); T1 rel(l); T2 acq(l); T2 w(balance);"
                "T2 rel(l)",
                true),
      "atomicity");
  BOOST_TEST(has(text, "atomicity R1-W2-W1"));
  BOOST_TEST(has(text,
                 "thread 1 writes balance after thread 0 reads it and before it writes it: the value written in "
                 "between is lost."));
  BOOST_TEST(has(text, "in f at prog.c:8"));
  BOOST_TEST(has(text, "holding balance, locked at f at prog.c:7"));
  BOOST_TEST(has(text, "witness: 7 events"));
  BOOST_TEST(has(text, "1 finding in 9 events of 2 threads"));
}

BOOST_AUTO_TEST_CASE(deadlock) {
  const std::string text = report(std_model("T1 acq(l); T1 acq(m); T1 rel(m); T1 rel(l); T2 acq(m); T2 acq(l);"
                                            "T2 rel(l); T2 rel(m)",
                                            true),
                                  "deadlocks");
  BOOST_TEST(has(text, "deadlock L1-L2"));
  BOOST_TEST(has(text, "none of them can continue"));
}

BOOST_AUTO_TEST_CASE(heap_blocks_and_call_stacks) {
  TraceBuilder builder;
  const auto add = [&](ThreadId t, EventKind kind, std::uint64_t address, std::uint64_t extra, std::uint32_t site) {
    builder.add({address, site, extra, t, kind, 0}, site);
  };
  add(0, EventKind::kAlloc, 0x9000, 16, 70);
  add(0, EventKind::kAlloc, 0x1000, 32, 70);
  add(0, EventKind::kFork, 0, 1, 3);
  add(1, EventKind::kCall, 0, 0, 50);
  add(1, EventKind::kCall, 0, 0, 51);
  add(1, EventKind::kWrite, 0x1008, 4, 4);
  add(1, EventKind::kReturn, 0, 0, 51);
  add(0, EventKind::kWrite, 0x1008, 4, 5);
  const std::string text = report(builder.finish(), "races");
  BOOST_TEST(has(text, "heap block #2 of f at prog.c:70 +8"));
  BOOST_TEST(has(text, "by f at prog.c:51\n      by f at prog.c:50\n"));
}

// Thread 0 locks with an unwound stack. The unwound stack of thread 1 is not known, so only its announced calls show.
BOOST_AUTO_TEST_CASE(unwound_call_stacks) {
  TraceBuilder builder;
  builder.add_call(0, 90);
  builder.add_call(1, 91);
  builder.add_call(1, 92);
  const auto add = [&](ThreadId t, EventKind kind, std::uint64_t address, std::uint64_t extra, std::uint32_t site) {
    builder.add({address, site, extra, t, kind, 0}, site);
  };
  const auto both = [&](ThreadId t, std::uint64_t first, std::uint64_t second, std::uint32_t site) {
    add(t, EventKind::kLock, first, 0, site);
    add(t, EventKind::kLock, second, 0, site + 1);
    add(t, EventKind::kUnlock, second, 0, site + 2);
    add(t, EventKind::kUnlock, first, 0, site + 3);
  };
  add(0, EventKind::kFork, 0, 1, 3);
  add(0, EventKind::kCall, 0, 0, 50);
  add(0, EventKind::kStack, 0, 2, 10);
  both(0, 0x1000, 0x2000, 10);
  add(1, EventKind::kCall, 0, 0, 51);
  add(1, EventKind::kStack, 0, 3, 20);
  add(1, EventKind::kStack, 0, 0, 20);  // a stack that could not be unwound
  both(1, 0x2000, 0x1000, 20);
  const std::string text = report(builder.finish(), "deadlocks");
  BOOST_TEST(has(text, "in f at prog.c:11\n      by f at prog.c:91\n      by f at prog.c:90\n      holding"));
  BOOST_TEST(has(text, "in f at prog.c:21\n      by f at prog.c:51\n      holding"));
}

}  // namespace
}  // namespace reweave::testing
