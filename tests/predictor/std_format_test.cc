#define BOOST_TEST_MODULE predictor_std_format
#include <boost/test/included/unit_test.hpp>

#include <sstream>

#include "formats/std_format.h"

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

BOOST_AUTO_TEST_CASE(round_trip) {
  const std::string text =
      "T0|begin|0\nT0|fork(T1)|1\nT0|acq(L1)|2\nT0|w(V.a[3])|42\nT0|rel(L1)|3\nT1|r(V.a[3])|7\n"
      "T1|br|8\nT1|end|9\nT0|join(T1)|10\nT0|req(L1)|11\n";
  const Read r = read(text);
  BOOST_TEST(r.events.size() == 10u);
  BOOST_TEST(r.sites[3] == 42u);
  std::ostringstream out;
  for (std::size_t i = 0; i < r.events.size(); ++i) write_std(out, r.events[i], r.sites[i], {StdDialect::kFull, &r.names});
  BOOST_TEST(out.str() == text);
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
  BOOST_TEST(error_of("|w(x)|1\n") == "line 1: bad thread name ''");
  BOOST_TEST(error_of("a|b|c|d\n") == "line 1: expected thread|op|location");
}

}  // namespace
}  // namespace reweave
