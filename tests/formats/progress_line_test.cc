// The progress of work, on terminals of any width.
#define BOOST_TEST_MODULE formats_progress_line
#include <boost/test/unit_test.hpp>

#include "formats/base/progress_line.h"

namespace reweave {
namespace {

BOOST_AUTO_TEST_CASE(the_longest_text_that_fits_is_shown) {
  const auto texts = progress_texts("hb", "5.0M events", 5, 20, 1.2);
  BOOST_TEST(fitting(texts, 79) == "hb: 5.0M events [#####---------------] 25%, 4 s left");
  BOOST_TEST(fitting(texts, 40) == "hb: 5.0M events, 25%, 4 s left");
  BOOST_TEST(fitting(texts, 20) == "hb: 25%, 4 s left");
  BOOST_TEST(fitting(texts, 15) == "25%, 4 s left");
  BOOST_TEST(fitting(texts, 5) == "25%, ");
}

BOOST_AUTO_TEST_CASE(no_text_is_longer_than_the_line) {
  for (const std::uint64_t done : {0u, 1u, 7u, 10u}) {
    for (const std::uint64_t all : {0u, 10u}) {
      const auto texts = progress_texts("two-variables, assuming", "7 of 10 groups decided, 100 s", done, all, 100);
      for (std::size_t columns = 0; columns < 100; ++columns) BOOST_TEST(fitting(texts, columns).size() <= columns);
    }
  }
}

BOOST_AUTO_TEST_CASE(where_the_end_is_not_known_none_is_told) {
  BOOST_TEST(fitting(progress_texts("reading", "1.0M events", 5, 0, 1), 79) == "reading: 1.0M events");
  BOOST_TEST(fitting(progress_texts("reading", "1.0M events", 0, 9, 0), 79) == "reading: 1.0M events");
  BOOST_TEST(fitting(progress_texts("writing", "", 0, 0, 0), 79) == "writing");
}

}  // namespace
}  // namespace reweave
