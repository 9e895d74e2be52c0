// The verb `predict` from end to end: a subject program is recorded, traced and analysed; the candidates are read back.
#define BOOST_TEST_MODULE predict_command
#include <sys/wait.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/trace/candidates.h"
#include "tests/formats/scratch.h"

namespace reweave::testing {
namespace {

const std::string kReweave = std::getenv("REWEAVE");
const std::string kPrograms = std::getenv("SUBJECTS");

// Returns the exit status of a shell command.
int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Predicted {
  CandidateSet set;
  std::string report;
};

struct Folder {
  test::Scratch scratch;

  std::string trace(const std::string& program) {
    const std::string recording = scratch / program, file = recording + ".rwt";
    BOOST_REQUIRE_EQUAL(run(kReweave + " record -o " + recording + " -- " + kPrograms + "/" + program + ".tsan > " +
                            recording + ".out 2>&1"),
                        0);
    BOOST_REQUIRE_EQUAL(run(kReweave + " trace " + recording + " -o " + file + " > " + recording + ".out"), 0);
    return file;
  }

  Predicted predict(const std::string& file, int expected = 0) {
    const std::string output = file + ".candidates", report = file + ".txt";
    BOOST_REQUIRE_EQUAL(run(kReweave + " predict --witness " + file + " -o " + output + " > " + report + " 2>&1"),
                        expected);
    return {expected == 0 ? read_candidates(output) : CandidateSet{}, test::read_bytes(report)};
  }
};

const CodeSite& site_of(const Predicted& predicted, const CandidateEvent& event) {
  return predicted.set.sites.at(event.site);
}

// Checks that the steps of each thread follow the order of the trace, none of them twice, and that each has an address.
void check_witness(const Candidate& candidate) {
  std::map<ThreadId, std::uint64_t> last;
  for (const WitnessStep& step : candidate.witness) {
    const auto [it, first] = last.try_emplace(step.thread, step.index);
    BOOST_TEST((first || it->second < step.index));
    it->second = step.index;
    BOOST_TEST(step.pc != 0);
  }
}

BOOST_FIXTURE_TEST_CASE(a_lost_update_comes_first, Folder) {
  const Predicted predicted = predict(trace("bank_account"));
  BOOST_REQUIRE(!predicted.set.candidates.empty());
  const Candidate& found = predicted.set.candidates[0];
  BOOST_TEST((found.kind == CandidateKind::kAtomicity));
  BOOST_TEST(found.pattern == "R1-W2-W1");
  BOOST_REQUIRE_EQUAL(found.events.size(), 3u);
  for (const CandidateEvent& event : found.events) {
    BOOST_TEST(event.object == "balance");
    BOOST_TEST(site_of(predicted, event).function == "deposit");
    BOOST_TEST(has(site_of(predicted, event).file, "bank_account.c"));
    BOOST_TEST(site_of(predicted, event).line > 0u);
    BOOST_TEST(has(site_of(predicted, event).module, "bank_account.tsan"));
  }
  BOOST_REQUIRE(!found.witness.empty());
  check_witness(found);
  BOOST_TEST(found.beginning.empty());
  BOOST_TEST(found.witness.back().index == found.events[2].index);
  BOOST_TEST(has(predicted.report, "the value written in between is lost"));
  BOOST_TEST(has(predicted.report, "holding lock"));
  BOOST_TEST(has(predicted.report, "balance = seen + amount;"));
  BOOST_TEST(has(predicted.report, "witness:"));
  BOOST_TEST(!has(predicted.report, "libreweave"));
}

BOOST_FIXTURE_TEST_CASE(a_deadlock_ends_before_the_inner_locks, Folder) {
  const Predicted predicted = predict(trace("lock_order"));
  BOOST_REQUIRE(!predicted.set.candidates.empty());
  const Candidate& found = predicted.set.candidates[0];
  BOOST_TEST((found.kind == CandidateKind::kDeadlock));
  BOOST_REQUIRE_EQUAL(found.events.size(), 2u);
  check_witness(found);
  for (const CandidateEvent& event : found.events) {
    const auto done = [&](const WitnessStep& step) { return step.thread == event.thread && step.index >= event.index; };
    BOOST_TEST(std::none_of(found.witness.begin(), found.witness.end(), done));
  }
}

BOOST_FIXTURE_TEST_CASE(a_race_ends_with_its_two_accesses, Folder) {
  const Predicted predicted = predict(trace("publish_before_init"));
  const auto& all = predicted.set.candidates;
  const auto race = std::find_if(all.begin(), all.end(), [](auto& c) { return c.kind == CandidateKind::kRace; });
  BOOST_REQUIRE(race != all.end());
  check_witness(*race);
  const std::size_t size = race->witness.size();
  BOOST_REQUIRE(size >= 2);
  BOOST_TEST(race->witness[size - 2].index == race->events[0].index);
  BOOST_TEST(race->witness[size - 1].index == race->events[1].index);
}

BOOST_FIXTURE_TEST_CASE(correct_twins_have_no_race_and_no_deadlock, Folder) {
  for (const char* program : {"bank_account_ok", "lock_order_ok", "wrong_lock_ok", "refcount_ok"}) {
    for (const Candidate& candidate : predict(trace(program)).set.candidates)
      BOOST_TEST((candidate.kind == CandidateKind::kAtomicity), program << ": " << candidate.summary);
  }
}

BOOST_FIXTURE_TEST_CASE(text_and_bad_input, Folder) {
  const std::string file = scratch / "t.std";
  test::write_bytes(file, "T1|w(x)|1\nT2|r(x)|2\n");
  const Predicted predicted = predict(file);
  BOOST_REQUIRE(!predicted.set.candidates.empty());
  BOOST_TEST(predicted.set.candidates[0].events[0].object == "x");
  test::write_bytes(file, "T1|fly(x)|1\n");
  BOOST_TEST(has(predict(file, 2).report, "line 1: unknown operation 'fly'"));
  BOOST_TEST(has(predict(scratch / "missing", 2).report, "No such file"));

  const std::string whole = trace("wrong_lock"), cut = scratch / "cut.rwt";
  const std::string bytes = test::read_bytes(whole);
  test::write_bytes(cut, bytes.substr(0, bytes.size() - 40));
  BOOST_TEST(has(predict(cut, 6).report, "analysing the"));
}

// Analyses one text plain, with gzip and with zstd. Its race is hidden by the recorded lock order, so wcp and lockset
// report it and hb and shb do not.
BOOST_FIXTURE_TEST_CASE(std_text_may_be_compressed, Folder) {
  const std::string file = scratch / "t.std", out = scratch / "out";
  test::write_bytes(file, "T1|w(x)|1\nT1|acq(l)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|rel(l)|5\nT2|w(x)|6\n");
  BOOST_REQUIRE_EQUAL(run("gzip -k " + file + " && zstd -q -k " + file), 0);
  for (const std::string& name : {file, file + ".gz", file + ".zst"}) {
    BOOST_REQUIRE_EQUAL(run(kReweave + " predict --format=json " + name + " > " + out), 0);
    const auto findings = nlohmann::json::parse(test::read_bytes(out)).at("findings");
    BOOST_REQUIRE_EQUAL(findings.size(), 1u);
    BOOST_TEST(findings.at(0).at("kind") == "race");
    BOOST_TEST(findings.at(0).at("events").at(0).at("object") == "x");
    for (const std::string& detector : std::vector<std::string>{"hb", "shb", "wcp", "lockset"}) {
      BOOST_REQUIRE_EQUAL(run(kReweave + " predict --analysis=" + detector + " --format=sarif " + name + " > " + out),
                          0);
      const auto results = nlohmann::json::parse(test::read_bytes(out)).at("runs").at(0).at("results");
      BOOST_TEST(results.empty() == (detector == "hb" || detector == "shb"));
    }
  }
  BOOST_REQUIRE_EQUAL(run("head -c 20 " + file + ".gz > " + file + "2.std.gz"), 0);
  BOOST_TEST(run(kReweave + " predict " + file + "2.std.gz 2> " + out) == 2);
}

// Without any time, everything is listed as undecided. The same command with time continues, and leaves no state.
BOOST_FIXTURE_TEST_CASE(a_run_out_of_time_continues, Folder) {
  const std::string file = trace("bank_account"), whole = scratch / "whole", parts = scratch / "parts";
  const std::string out = scratch / "out";
  BOOST_REQUIRE_EQUAL(run(kReweave + " predict " + file + " -o " + whole + " > " + out), 0);
  BOOST_TEST(!std::filesystem::exists(whole + ".state"));
  BOOST_REQUIRE_EQUAL(run(kReweave + " predict --budget 0 " + file + " -o " + parts + " > " + out + " 2>&1"), 0);
  BOOST_TEST(has(test::read_bytes(out), "the time was used up"));
  BOOST_TEST(has(test::read_bytes(out), "the same command continues"));
  for (const char* front : {"deadlocks", "atomicity", "races"}) {
    BOOST_TEST(has(test::read_bytes(out), std::string(front) + ": not searched for everywhere"));
  }
  BOOST_TEST(std::filesystem::exists(parts + ".state"));
  BOOST_REQUIRE_EQUAL(run(kReweave + " predict " + file + " -o " + parts + " > " + out + " 2>&1"), 0);
  BOOST_TEST(!std::filesystem::exists(parts + ".state"));
  BOOST_TEST((read_candidates(parts) == read_candidates(whole)));
}

// A process ends when its threads end; the text tells which threads belong to which process.
BOOST_FIXTURE_TEST_CASE(a_process_ends_only_itself, Folder) {
  const std::string file = scratch / "t.std", out = scratch / "out";
  const std::string events = "T0|fork(T1)|1\nT1|begin|2\nT0|r(x)|3\nT1|w(x)|4\nT1|end|5\nT0|exit|6\n";
  const auto ends_early = [&](const std::string& text) {
    test::write_bytes(file, text);
    BOOST_REQUIRE_EQUAL(run(kReweave + " predict --analysis=lifetimes --format=json " + file + " > " + out), 0);
    return !nlohmann::json::parse(test::read_bytes(out)).at("findings").empty();
  };
  BOOST_TEST(ends_early(events));
  BOOST_TEST(!ends_early("T1|process(P1)|0\n" + events));
  BOOST_TEST(ends_early("T1|process(P1)|0\nT0|process(P1)|0\n" + events));
}

BOOST_FIXTURE_TEST_CASE(held_locks_and_limits_are_told, Folder) {
  const std::string out = scratch / "out";
  BOOST_REQUIRE_EQUAL(run(kReweave + " predict --format=json " + trace("bank_account") + " > " + out), 0);
  const auto events = nlohmann::json::parse(test::read_bytes(out)).at("findings").at(0).at("events");
  for (const auto& event : events) {
    BOOST_REQUIRE_EQUAL(event.at("held").size(), 1u);
    BOOST_TEST(event.at("held").at(0).at("object") == "lock");
    BOOST_TEST(has(event.at("held").at(0).at("site").at("file"), "bank_account.c"));
  }
  BOOST_REQUIRE_EQUAL(run(kReweave + " predict --help > " + out), 0);
  for (const char* said : {"8 places of the trace", "64 pairs of thread and code location", "of up to 8 threads",
                           "1000 highest-ranked", "20000 steps", "default: 600", "default: text"}) {
    BOOST_TEST(has(test::read_bytes(out), said), said);
  }
  BOOST_TEST(run(kReweave + " predict --explain 0 x.std 2> " + out) != 0);
  BOOST_TEST(run(kReweave + " predict --budget -1 x.std 2> " + out) != 0);
  BOOST_TEST(run(kReweave + " predict --format=xml x.std 2> " + out) != 0);
}

BOOST_FIXTURE_TEST_CASE(malformed_text_is_named_by_line, Folder) {
  const std::string file = scratch / "t.std", out = scratch / "out";
  test::write_bytes(file, "T1|w(x)|1\nT1|jump(x)|2\n");
  BOOST_TEST(run(kReweave + " predict " + file + " 2> " + out) == 2);
  BOOST_TEST(has(test::read_bytes(out), "line 2: unknown operation 'jump'"));
}

}  // namespace
}  // namespace reweave::testing
