// Schedules and candidates: round trips and refusals.
#define BOOST_TEST_MODULE messages
#include <boost/test/unit_test.hpp>

#include "formats/base/block_file.h"
#include "formats/recording/schedule.h"
#include "formats/trace/candidates.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

CandidateSet sample_set() {
  CandidateSet set;
  set.trace = "t.rwt";
  set.analysis = "races";
  set.sites = {{"/bin/prog", "abcd", 0x1234, "main.cc", 17, "main"}, {"", "", 0x7f0000000000, "", 0, ""}};
  Candidate race;
  race.kind = CandidateKind::kRace;
  race.events = {{0, 10, EventKind::kRead, 0, 0x601040, "counter", {0, 1, 0}, {}},
                 {1, 20, EventKind::kWrite, 1, 0x601040, "counter", {}, {{"lock", 1, false}, {"", 0, true}}}};
  race.witness = {{0, 9, EventKind::kLock, 0x601000, 0}, {1, 20, EventKind::kWrite, 0x601040, 0x401234}};
  race.score = 0.75;
  race.count = 12;
  race.pattern = "R1-W2";
  race.summary = "thread 1 writes counter while thread 0 reads it";
  race.beginning = {{1, 0x401230, 2}, {0, 0x401250, ~0ull}};
  Candidate deadlock;
  deadlock.kind = CandidateKind::kDeadlock;
  set.candidates = {race, deadlock};
  return set;
}

}  // namespace

BOOST_AUTO_TEST_CASE(schedule_survives) {
  test::Scratch scratch;
  Schedule schedule;
  schedule.policy = "pct";
  schedule.seed = 42;
  schedule.switches = {{1, 0, 1}, {5, 1, 65535}, {~0ull, 2, 0}};
  schedule.params = {{"depth", "3"}, {"empty", ""}};
  write_schedule(scratch / "s", schedule);
  BOOST_TEST((read_schedule(scratch / "s") == schedule));
  write_schedule(scratch / "s", {});
  BOOST_TEST((read_schedule(scratch / "s") == Schedule{}));
}

BOOST_AUTO_TEST_CASE(schedule_out_of_order_is_our_bug) {
  test::Scratch scratch;
  Schedule schedule;
  schedule.switches = {{5, 0, 1}, {5, 1, 0}};
  BOOST_CHECK_THROW(write_schedule(scratch / "s", schedule), CheckFailed);
}

BOOST_AUTO_TEST_CASE(candidates_survive) {
  test::Scratch scratch;
  write_candidates(scratch / "c", sample_set());
  BOOST_TEST((read_candidates(scratch / "c") == sample_set()));
  write_candidates(scratch / "c", {});
  BOOST_TEST((read_candidates(scratch / "c") == CandidateSet{}));
}

BOOST_AUTO_TEST_CASE(a_site_out_of_range_is_refused) {
  test::Scratch scratch;
  CandidateSet set = sample_set();
  set.candidates[0].events[1].site = 2;
  write_candidates(scratch / "c", set);
  BOOST_CHECK_THROW(read_candidates(scratch / "c"), BadFile);
  set = sample_set();
  set.candidates[0].events[1].held[0].site = 2;
  write_candidates(scratch / "c", set);
  BOOST_CHECK_THROW(read_candidates(scratch / "c"), BadFile);
}

BOOST_AUTO_TEST_CASE(one_file_type_is_not_another) {
  test::Scratch scratch;
  write_schedule(scratch / "s", {});
  BOOST_CHECK_THROW(read_candidates(scratch / "s"), BadFile);
}

}  // namespace reweave
