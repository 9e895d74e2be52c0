// TSAN_OPTIONS and suppressions as ThreadSanitizer reads them, and the order of locks.
#define BOOST_TEST_MODULE race options
#include <boost/test/unit_test.hpp>

#include "formats/base/error.h"
#include "predictor/races/access_cells.h"
#include "predictor/races/lock_order.h"
#include "predictor/races/suppressions.h"
#include "predictor/races/tsan_options.h"

using namespace reweave;  // NOLINT: a test

BOOST_AUTO_TEST_CASE(options_are_parted_as_by_thread_sanitizer) {
  const TsanOptions options =
      TsanOptions::parse("exitcode=5:halt_on_error=1 suppressions='a file'\nlog_path=\"x:y\",io=3");
  BOOST_TEST(options.exit_status == 5);
  BOOST_TEST(options.halt_on_error);
  BOOST_TEST(options.suppressions == "a file");
  BOOST_TEST(options.log_path == "x:y");
  BOOST_TEST(TsanOptions::parse("").exit_status == 66);
  BOOST_TEST(!TsanOptions::parse(" report_bugs=no ").report_bugs);
}

BOOST_AUTO_TEST_CASE(options_that_cannot_be_read_are_refused) {
  for (const char* text : {"exitcode", "exitcode=", "exitcode=x", "halt_on_error=2", "suppressions='a"})
    BOOST_CHECK_THROW(TsanOptions::parse(text), BadInput);
}

BOOST_AUTO_TEST_CASE(patterns) {
  struct Row {
    const char* pattern;
    const char* text;
    bool matches;
  };
  const Row rows[] = {
      {"bump", "the_bumper", true},
      {"bump", "dump", false},
      {"^bump", "bumper", true},
      {"^bump", "a_bump", false},
      {"bump$", "a_bump", true},
      {"bump$", "bumper", false},
      {"^bump$", "bump", true},
      {"^bump$", "bumpy", false},
      {"a*c", "xabbcx", true},
      {"^a*c$", "abbc", true},
      {"^a*c$", "abbcd", false},
      {"*", "x", true},
      {"^*x$", "abx", true},
      {"ns::f", "ns::f(int)", true},
      {"a*b*c", "a-c-b", false},
      {"a$", "aba", true},
      {"", "x", true},
      {"x", "", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.pattern << " in " << row.text)
    BOOST_TEST(matches_pattern(row.pattern, row.text) == row.matches);
  }
}

BOOST_AUTO_TEST_CASE(suppressions_by_kind) {
  Suppressions rows = Suppressions::parse("# a comment\n\n race:bump \nrace_top:top\nleak:x\nnothing\ndeadlock:^f$");
  BOOST_TEST(rows.rows().size() == 3u);
  BOOST_TEST(rows.unknown() == (std::vector<std::string>{"leak:x", "nothing"}), boost::test_tools::per_element());
  BOOST_TEST((rows.find("race", {"", "bumper"}) == &rows.rows()[0]));
  BOOST_TEST((rows.find("deadlock", {"bump"}) == nullptr));
  BOOST_TEST(rows.has("race_top"));
  BOOST_TEST(!rows.has("called_from_lib"));
}

BOOST_AUTO_TEST_CASE(a_cycle_of_locks_is_told_once) {
  LockOrder order;
  const auto at = [](std::uint32_t site) { return NamedPlace{{site, 0}, TopFunction::kLock}; };
  BOOST_TEST(!order.take({{1}}, 2, at(10), 0));
  BOOST_TEST(!order.take({{2}}, 3, at(20), 1));
  BOOST_TEST(!order.take({{1}, {2}}, 3, at(21), 1));
  const auto cycle = order.take({{3}}, 1, at(30), 2);
  BOOST_REQUIRE(cycle);
  // The shortest cycle: 1 is held while 3 is taken, and 3 while 1 is taken.
  BOOST_REQUIRE_EQUAL(cycle->size(), 2u);
  BOOST_TEST((*cycle)[0].lock == 1u);
  BOOST_TEST((*cycle)[0].takes.place.site == 21u);
  BOOST_TEST((*cycle)[1].lock == 3u);
  BOOST_TEST((*cycle)[1].takes.place.site == 30u);
  BOOST_TEST(!order.take({{3}}, 1, at(31), 2));
}

BOOST_AUTO_TEST_CASE(a_note_that_stands_for_another_conflicts_with_all_that_it_does) {
  std::vector<AccessNote> notes;
  for (const std::uint8_t bytes : std::initializer_list<std::uint8_t>{0x0f, 0xf0, 0xff, 0x01})
    for (int kind = 0; kind < 4; kind++) {
      AccessNote note;
      note.bytes = bytes;
      note.write = (kind & 1) != 0;
      note.atomic = (kind & 2) != 0;
      notes.push_back(note);
    }
  for (const AccessNote& a : notes)
    for (const AccessNote& b : notes) {
      BOOST_TEST(a.conflicts(b) == b.conflicts(a));
      if (!a.stands_for(b)) continue;
      for (const AccessNote& c : notes) BOOST_TEST((!b.conflicts(c) || a.conflicts(c)));
    }
}

BOOST_AUTO_TEST_CASE(cells_hold_any_number_of_notes_and_forget) {
  AccessCells cells;
  int visited = 0;
  cells.each(0x1006, 12, [&](AccessCell& cell, std::uint64_t base, std::uint8_t bytes) {
    BOOST_TEST(int{bytes} == (base == 0x1000 ? 0xc0 : base == 0x1008 ? 0xff : 0x03));
    for (std::uint32_t i = 0; i < 5; i++) cell.add(AccessNote{i, i, 0, bytes});
    cell.remove(1);
    BOOST_TEST(cell.size() == 4u);
    BOOST_TEST(cell[1].clock == 4u);
    visited++;
  });
  BOOST_TEST(visited == 3);
  cells.forget(0x1008, 8);
  cells.each(0x1000, 24, [&](AccessCell& cell, std::uint64_t base, std::uint8_t) {
    BOOST_TEST(cell.size() == (base == 0x1008 ? 0u : 4u));
  });
}
