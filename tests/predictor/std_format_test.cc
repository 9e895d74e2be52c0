#define BOOST_TEST_MODULE predictor_std_format
#include <fmt/core.h>

#include <boost/test/unit_test.hpp>

#include <sstream>

#include "formats/text/std_format.h"
#include "tests/predictor/random_trace.h"

namespace reweave {
namespace {

struct Read {
  StdNames names;
  std::vector<TraceEvent> events;
  std::vector<std::uint32_t> sites;
};

Read read(const std::string& text) {
  Read result;
  std::istringstream in(text);
  read_std(in, result.names, [&](const TraceEvent& e, std::uint32_t site) {
    result.events.push_back(e);
    result.sites.push_back(site);
  });
  return result;
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const StdFormatError& e) {
    return e.what();
  }
  return "";
}

std::string written(const Read& r) {
  std::ostringstream out;
  for (std::size_t i = 0; i < r.events.size(); ++i)
    write_std(out, r.events[i], r.sites[i], {StdDialect::kFull, &r.names});
  return out.str();
}

BOOST_AUTO_TEST_CASE(round_trip) {
  const std::string text =
      "T0|begin|0\nT0|fork(T1)|1\nT0|acq(L1)|2\nT0|w(V.a[3])|42\nT0|rel(L1)|3\nT1|r(V.a[3])|7\n"
      "T1|br|8\nT1|end|9\nT0|join(T1)|10\nT0|req(L1)|11\n";
  const Read r = read(text);
  BOOST_TEST(r.events.size() == 10u);
  BOOST_TEST(r.sites[3] == 42u);
  BOOST_TEST(written(r) == text);
}

// A text may contain names, and also the addresses that these names were given.
BOOST_AUTO_TEST_CASE(a_name_is_written_for_nothing_else) {
  const Read names = read("T0|w(V)|0\nT0|acq(L)|1\n");
  const std::string v = fmt::format("@{:x}", names.events[0].address),
                    l = fmt::format("@{:x}", names.events[1].address);
  const std::string text = fmt::format(
      "T0|w(V)|0\nT0|acq(L)|1\nT0|alloc({0}+3)|2\nT0|w({0}+3)|3\nT0|aw({0}+8/2)|4\nT0|aw(V)|5\nT0|free({0})|6\n"
      "T0|r({1}+8)|7\nT0|acq({0})|8\nT0|free({1})|9\n",
      v, l);
  BOOST_TEST(written(read(text)) == text);
}

// Writing and reading preserves everything that generated traces can contain.
BOOST_AUTO_TEST_CASE(nothing_is_lost) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto events = testing::random_trace({.threads = 3,
                                               .events = 60,
                                               .shared_locks = true,
                                               .fork_join = true,
                                               .atomics = true,
                                               .mixed_sizes = true,
                                               .conditions = true,
                                               .pointers = true,
                                               .blind_updates = true,
                                               .heap = true,
                                               .ends = true},
                                              seed);
    std::ostringstream out;
    std::vector<TraceEvent> written;
    for (const TraceEvent& e : events) {
      if (write_std(out, e, static_cast<std::uint32_t>(e.pc), {})) written.push_back(e);
    }
    const Read back = read(out.str());
    BOOST_REQUIRE_EQUAL(back.events.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const TraceEvent &a = events[i], &b = back.events[i];
      const bool atomic = a.kind >= EventKind::kAtomicLoad && a.kind <= EventKind::kAtomicRmw;
      BOOST_TEST((a.kind == b.kind && a.aux == b.aux), "event " << i << " of seed " << seed);
      const bool placed = a.kind != EventKind::kFork && a.kind != EventKind::kJoin;
      if (placed) BOOST_TEST((a.address == b.address && a.extra == b.extra), "event " << i << " of seed " << seed);
      BOOST_TEST((!atomic || a.extra == 8));
      BOOST_TEST(back.sites[i] == i);
    }
  }
}

// Barriers, semaphores, calls, requests and the like, as text.
BOOST_AUTO_TEST_CASE(all_words) {
  const std::string text =
      "T0|stack(@7000+4096)|1\nT0|fork(T1)|2\nT0|alloc(@5000+32)|3\nT0|call|4\nT0|ret|5\nT0|enter(@60)|6\n"
      "T1|enter(@60)|7\nT1|leave(@60)|8\nT0|leave(@60)|9\nT0|post(@70)|10\nT1|take(@70)|11\nT1|req(@80)|12\n"
      "T1|acq(@80)|13\nT1|rel(@80)|14\nT1|reqs(@80)|15\nT1|acqs(@80)|16\nT1|rels(@80)|17\nT0|rp(@5000+8)|18\n"
      "T0|wz(@5000+8)|19\nT0|ar(@5008+4/0)|20\nT0|aw(@5008+4/3)|21\nT0|au(@5008+4/5)|22\nT1|acq(@80)|23\n"
      "T1|wait(@90,@80)|24\nT0|notify(@90)|25\nT0|notifyAll(@90)|26\nT1|woken(@90,@80)|27\n"
      "T1|wait(@90,@80)|28\nT1|timeout(@90,@80)|29\nT0|free(@5000)|30\nT0|rd(@5008+4)|31\nT0|wd(@5008+4)|32\n"
      "T1|end|33\nT0|exit|34\n";
  const Read r = read(text);
  std::ostringstream out;
  for (std::size_t i = 0; i < r.events.size(); ++i) write_std(out, r.events[i], r.sites[i], {});
  BOOST_TEST(out.str() == text);
}

BOOST_AUTO_TEST_CASE(processes_are_said_apart) {
  const Read r = read("T3|process(P2)|0\nT0|w(x)|1\nT4|process(P2)|0\nT3|w(x)|2\nT5|process(other)|3\n");
  BOOST_TEST(r.events.size() == 2u);
  const auto process = [&](ThreadId t) { return t < r.names.processes().size() ? r.names.processes()[t] : 0; };
  BOOST_TEST(r.names.threads()[0] == "T3");
  BOOST_TEST((process(0) != 0 && process(0) == process(2)));  // T3 and T4
  BOOST_TEST((process(3) != 0 && process(3) != process(0)));  // T5
  BOOST_TEST(process(1) == 0);
  std::ostringstream out;
  write_std_process(out, 0, 2, {StdDialect::kFull, &r.names});
  write_std_process(out, 1, 2, {StdDialect::kField, &r.names});
  BOOST_TEST(out.str() == "T3|process(P2)|0\n");
  BOOST_TEST(error_of("T0|process|1\n") == "line 1: 'process' needs a name");
}

// Writes only the events that other tools can read.
BOOST_AUTO_TEST_CASE(the_fields_dialect) {
  const Read r = read(
      "T0|acqs(@80)|1\nT0|wz(@50+8)|2\nT0|au(@58+4/5)|3\nT0|wait(@90,@80)|4\nT0|woken(@90,@80)|5\nT0|br|6\n"
      "T0|free(@50)|7\nT0|notify(@90)|8\nT0|exit|9\n");
  std::ostringstream out;
  for (std::size_t i = 0; i < r.events.size(); ++i) write_std(out, r.events[i], r.sites[i], {StdDialect::kField});
  BOOST_TEST(out.str() == "T0|acq(L80)|1\nT0|w(V50)|2\nT0|w(V58)|3\nT0|rel(L80)|4\nT0|acq(L80)|5\n");
}

BOOST_AUTO_TEST_CASE(branches_can_be_stripped) {
  const Read r = read("T0|br(0)|1\n");
  std::ostringstream out;
  BOOST_TEST(!write_std(out, r.events[0], 1, {StdDialect::kField, &r.names}));
  BOOST_TEST(out.str().empty());
}

BOOST_AUTO_TEST_CASE(threads_are_the_same_with_and_without_t) {
  const Read r = read("T0|fork(18)|1\r\nT18|w(x)|2\r\n");
  BOOST_TEST(r.events[0].extra == r.events[1].thread);
}

BOOST_AUTO_TEST_CASE(malformed_lines_are_named) {
  BOOST_TEST(error_of("T0|w(x)|1\nT0|w(x)\n") == "line 2: expected thread|op|location");
  BOOST_TEST(error_of("T0|w|1\n") == "line 1: 'w' needs a name");
  BOOST_TEST(error_of("T0|w()|1\n") == "line 1: bad name in 'w()'");
  BOOST_TEST(error_of("T0|w(x|1\n") == "line 1: missing ')' in 'w(x'");
  BOOST_TEST(error_of("T0|zap(x)|1\n") == "line 1: unknown operation 'zap'");
  BOOST_TEST(error_of("T0|w(x)|-1\n") == "line 1: location '-1' is not a 32-bit number");
  BOOST_TEST(error_of("T0|w(x)|99999999999\n") == "line 1: location '99999999999' is not a 32-bit number");
  BOOST_TEST(error_of("T0|alloc(x)|1\n") == "line 1: 'x' is not memory: @hex+bytes");
  BOOST_TEST(error_of("T0|free(x)|1\n") == "line 1: 'x' is not an address: write @ and hexadecimal digits");
  for (const char* operand : {"c", ",m", "c,", ","})
    BOOST_TEST(error_of("T0|wait(" + std::string(operand) + ")|1\n") == "line 1: 'wait' needs a condition and a mutex");
  BOOST_TEST(error_of("T0|w(@ffffffffffffffff+8)|1\n") == "line 1: '@ffffffffffffffff+8' is more than there is memory");
  BOOST_TEST(error_of("|w(x)|1\n") == "line 1: bad thread name ''");
  BOOST_TEST(error_of("a|b|c|d\n") == "line 1: expected thread|op|location");
}

}  // namespace
}  // namespace reweave
