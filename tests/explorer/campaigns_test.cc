// The plan of a campaign, the files published in its folder, and the knowledge with which rounds begin.
#define BOOST_TEST_MODULE campaigns
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "explorer/campaigns/campaign_folder.h"
#include "explorer/campaigns/slurm.h"
#include "explorer/campaigns/unit_result.h"
#include "formats/base/error.h"
#include "formats/base/private_folder.h"

using namespace reweave;  // NOLINT

namespace {

CampaignPlan plan_of(std::uint64_t cases, std::uint64_t units, std::uint64_t rounds) {
  CampaignPlan plan;
  plan.id = "0123456789abcdef";
  plan.units = units;
  plan.rounds = rounds;
  for (std::uint64_t i = 0; i < cases; i++) plan.cases.push_back({std::to_string(i), "/recording"});
  return plan;
}

KnowledgeRecord knowledge(std::uint64_t from) {
  KnowledgeRecord known;
  known.choices = from;
  known.threads = 2;
  known.seen = {from, from + 1};
  known.variables = {{{from, from + 1}, from, {1, 2}}, {{7}, from, {1}}};
  known.pairs = {{from, from + 1, 3}, {7, 7, from}};
  known.uses_of_released = {{from, 1}};
  return known;
}

std::string sum_of(std::initializer_list<std::uint64_t> parts) {
  Knowledge sum;
  for (const std::uint64_t part : parts) sum.add(knowledge(part));
  KnowledgeRecord record = sum.record();
  std::ranges::sort(record.variables, {}, &Variable::sites);  // their order depends on the order of add()
  return knowledge_json(record);
}

UnitResult result() {
  UnitResult unit;
  unit.unit = 7;
  unit.runs = 20;
  unit.examined = 19;
  FoundFailure failure;
  failure.end.outcome = wire::OutcomeKind::kSignalled;
  failure.end.wait_status = 6;
  failure.end.text = "text \"\n\xff";
  failure.site = ~std::uint64_t{0};
  failure.switches.preemptions = {{5, 1, 2, 0, 0}};
  failure.switches.free = {{9, 2, 1, 1, 0}, {10, 1, 2, 1, 0}};
  failure.number = 3;
  failure.count = 4;
  unit.failures = {failure};
  return unit;
}

struct Scratch {
  PrivateFolder folder;
  CampaignFolder campaign = make();

  CampaignFolder make() const {
    CampaignFolder made = CampaignFolder::create(folder.path() + "/campaign");
    made.write_plan(plan_of(1, 4, 1));
    return made;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(each_unit_has_one_place) {
  for (const auto& [cases, units, rounds] : {std::tuple{1, 1, 1}, {1, 8, 2}, {3, 4, 1}, {5, 12, 3}, {1000, 6, 2}}) {
    const CampaignPlan plan = plan_of(cases, units, rounds);
    std::set<std::pair<std::uint64_t, std::uint64_t>> places;
    for (std::uint64_t number = 0; number < plan.all_units(); number++) {
      const UnitPlace place = place_of(plan, number);
      BOOST_TEST(unit_number(plan, place.case_index, place.index) == number);
      BOOST_TEST(place.round == number / plan.round_units());
      BOOST_TEST(place.case_index < plan.cases.size());
      BOOST_TEST(place.index < plan.units);
      places.insert({place.case_index, place.index});
    }
    BOOST_TEST(places.size() == plan.all_units());
  }
}

BOOST_AUTO_TEST_CASE(seeds_differ_within_a_case) {
  const CampaignPlan plan = plan_of(2, 1000, 1);
  std::set<std::uint64_t> seeds;
  for (std::uint64_t i = 0; i < 1000; i++) seeds.insert(unit_seed(plan, place_of(plan, unit_number(plan, 1, i))));
  BOOST_TEST(seeds.size() == 1000);
}

BOOST_AUTO_TEST_CASE(knowledge_is_a_join) {
  BOOST_TEST(sum_of({10, 20, 30}) == sum_of({30, 10, 20}));
  BOOST_TEST(sum_of({10, 20, 30}) == sum_of({10, 10, 20, 30, 20, 30}));
  BOOST_TEST(sum_of({10}) != sum_of({10, 20}));
}

BOOST_AUTO_TEST_CASE(texts_come_back) {
  const std::string line = result_json(result());
  BOOST_TEST(line.find('\n') == line.npos);
  const UnitResult back = parse_result(line, "file");
  BOOST_TEST(result_json(back) == line);
  BOOST_TEST(back.failures.front().switches.free[1].tick == 10);
  BOOST_TEST(back.failures.front().switches.free[1].free == 1);
  const std::string known = knowledge_json(knowledge(5));
  BOOST_TEST(knowledge_json(parse_knowledge(known, "file")) == known);
  const std::string plan = plan_json(plan_of(3, 4, 2));
  BOOST_TEST(plan_json(parse_plan(plan, "file")) == plan);
  BOOST_TEST(parse_time(time_json({1.5, 2, "host"}), "file").cpu == 2);
}

// A text that is cut, or has one digit or letter changed, is either read or refused with a message of one line.
BOOST_AUTO_TEST_CASE(damage_is_refused) {
  const auto try_all = [](const std::string& text, const auto& parse) {
    for (std::size_t i = 0; i < text.size(); i++)
      for (const char c : {'-', '9', 'x', '"', '[', '\0'}) {
        std::string damaged = text;
        damaged[i] = c;
        for (const std::string& each : {damaged, text.substr(0, i)}) try {
            parse(each, "file");
          } catch (const BadInput& error) {
            BOOST_TEST(std::string(error.what()).find('\n') == std::string::npos);
          }
      }
  };
  try_all(result_json(result()), parse_result);
  try_all(knowledge_json(knowledge(5)), parse_knowledge);
  try_all(plan_json(plan_of(1, 4, 2)), parse_plan);
}

BOOST_AUTO_TEST_CASE(published_once_or_twice) {
  const Scratch scratch;
  const CampaignFolder& campaign = scratch.campaign;
  BOOST_TEST(!campaign.read(Published::kUnits, 1007));
  campaign.publish(Published::kUnits, 1007, "line", "tail");
  campaign.publish(Published::kUnits, 1007, "line", "another tail");
  BOOST_TEST(campaign.list(Published::kUnits).size() == 1);
  BOOST_TEST(campaign.read(Published::kUnits, 1007)->line == "line");
  BOOST_TEST(campaign.read(Published::kUnits, 1007)->tail == "another tail\n");
  BOOST_TEST(!campaign.has(Published::kUnits, 1006));
  BOOST_TEST(!campaign.has(Published::kPartial, 1007));
  campaign.publish(Published::kUnits, 1007, "other");
  BOOST_CHECK_THROW(campaign.read(Published::kUnits, 1007), BadInput);
  BOOST_TEST(campaign.list(Published::kUnits, 1007).size() == 2);
}

BOOST_AUTO_TEST_CASE(links_and_leftovers_are_left_alone) {
  namespace fs = std::filesystem;
  const Scratch scratch;
  scratch.campaign.publish(Published::kUnits, 1, "line");
  const std::string shard = scratch.campaign.path() + "/units/00000";
  std::ofstream(shard + "/.new-0123456789abcdef") << "half";
  fs::create_symlink("/etc/passwd", shard + "/00000002-0123456789abcdef.json");
  fs::create_directory_symlink(shard, scratch.campaign.path() + "/units/00001");
  BOOST_CHECK_THROW(scratch.campaign.list(Published::kUnits), BadInput);  // 00001 is a link to a folder
  fs::remove(scratch.campaign.path() + "/units/00001");
  BOOST_TEST(scratch.campaign.list(Published::kUnits).size() == 2);
  BOOST_CHECK_THROW(scratch.campaign.read(Published::kUnits, 2), BadInput);
  BOOST_TEST(scratch.campaign.remove_leftovers() == 0);  // the leftover is too recent
  fs::last_write_time(shard + "/.new-0123456789abcdef", fs::file_time_type::clock::now() - std::chrono::hours(2));
  BOOST_TEST(scratch.campaign.remove_leftovers() == 1);
}

BOOST_AUTO_TEST_CASE(scripts_name_no_strange_paths) {
  const CampaignPlan plan = plan_of(1, 4, 1);
  BOOST_TEST(array_script(plan, "/a/b", "/bin/reweave", {}).find("#SBATCH --array=0-3%16\n") != std::string::npos);
  for (const char* path : {"/a b", "/a\n#SBATCH --uid=0", "/$(id)", "/a;b", "/%j", "/\"", "/é"})
    BOOST_CHECK_THROW(array_script(plan, path, "/bin/reweave", {}), BadInput);
  ArrayOptions options;
  options.time_limit = "1\n2";
  BOOST_CHECK_THROW(array_script(plan, "/a", "/bin/reweave", options), BadInput);
}
