// Traces values back to what they were computed from, in short pieces of machine code.
#define BOOST_TEST_MODULE value_way
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "explorer/explain/way/slice.h"
#include "explorer/explain/way/way_json.h"
#include "formats/base/private_folder.h"

namespace reweave {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

// A trace without events, for code without announced accesses.
class Part {
 public:
  Part() {
    const std::string path = folder_.path() + "/trace.rwt";
    TraceWriter(path, {"test", {"test"}, "test"}).finish();
    history_.emplace(TraceReader(path), std::uint16_t{0});
  }
  std::size_t add(const Bytes& code, std::uint64_t place = 0, std::optional<std::uint64_t> value = {}) {
    const auto instruction = decode_instruction(code, 0x1000 + 16 * part_.steps.size());
    BOOST_REQUIRE(instruction.has_value());
    kept_.push_back(std::make_unique<Instruction>(*instruction));
    ExecutedStep step;
    step.instruction = kept_.back().get();
    step.place = place;
    if (instruction->loads) step.loaded = value;
    if (instruction->stores) step.stored = value;
    part_.steps.push_back(step);
    return part_.steps.size() - 1;
  }
  std::vector<ValueSource> sources(RegisterSet registers) const {
    return sources_of(part_, part_.steps.size(), registers, *history_);
  }
  std::optional<std::size_t> constant(RegisterSet registers) const {
    return constant_of(part_, part_.steps.size(), registers, *history_);
  }

 private:
  PrivateFolder folder_;
  std::optional<AccessHistory> history_;
  std::vector<std::unique_ptr<Instruction>> kept_;
  ExecutedPart part_;
};

const Bytes kLoadEax = {0x8b, 0x03};             // mov (%rbx),%eax
const Bytes kAddEcxToEax = {0x01, 0xc8};         // add %ecx,%eax
const Bytes kStoreEax = {0x89, 0x44, 0x24, 4};   // mov %eax,4(%rsp)
const Bytes kReloadEdx = {0x8b, 0x54, 0x24, 4};  // mov 4(%rsp),%edx
const Bytes kOneInEcx = {0xb9, 1, 0, 0, 0};      // mov $1,%ecx
const Bytes kClearEax = {0x31, 0xc0};            // xor %eax,%eax

BOOST_AUTO_TEST_CASE(a_value_goes_through_registers_and_the_stack) {
  Part part;
  const std::size_t load = part.add(kLoadEax, 0x5000, 7);
  part.add(kOneInEcx);
  part.add(kAddEcxToEax);
  part.add(kStoreEax, 0x7004, 8);
  part.add(kReloadEdx, 0x7004, 8);
  const auto sources = part.sources(bit(kRdx));
  BOOST_REQUIRE(sources.size() == 1u);
  BOOST_TEST((sources[0].kind == ValueSource::Kind::kLoad));
  BOOST_TEST(sources[0].step == load);
}

BOOST_AUTO_TEST_CASE(memory_that_other_code_changed_is_not_the_value_stored) {
  Part part;
  part.add(kLoadEax, 0x5000, 7);
  part.add(kStoreEax, 0x7004, 7);
  const std::size_t reload = part.add(kReloadEdx, 0x7004, 9);
  const auto sources = part.sources(bit(kRdx));
  BOOST_REQUIRE(sources.size() == 1u);
  BOOST_TEST(sources[0].step == reload);
}

BOOST_AUTO_TEST_CASE(a_register_that_is_older_is_said_to_be) {
  Part part;
  part.add(kLoadEax, 0x5000, 7);
  part.add(kAddEcxToEax);
  const auto sources = part.sources(bit(kRax));
  BOOST_REQUIRE(sources.size() == 2u);
  BOOST_TEST((sources[1].kind == ValueSource::Kind::kEarlier || sources[0].kind == ValueSource::Kind::kEarlier));
}

BOOST_AUTO_TEST_CASE(constants_have_no_source) {
  Part part;
  const std::size_t one = part.add(kOneInEcx);
  BOOST_TEST(part.sources(bit(kRcx)).empty());
  BOOST_TEST(part.constant(bit(kRcx)).value() == one);
  part.add(kClearEax);
  BOOST_TEST(part.sources(bit(kRax)).empty());
  part.add(kAddEcxToEax);
  BOOST_TEST(!part.constant(bit(kRax)).has_value());  // two constants
}

json access(const char* does, unsigned thread, unsigned event, int value) {
  const bool reads = std::string(does) == "reads";
  return {{"thread", thread},
          {"does", does},
          {"object", "x"},
          {"place", "f"},
          {"value", value},
          {"event", event},
          {"address", 8},
          {"bytes", 4},
          {"text", std::string(reads ? "it had read" : "thread " + std::to_string(thread) + " had written")}};
}

// A comparison by thread 1 of a value from thread 2, which had missed a write of thread 1.
json good_way() {
  json lost = access("reads", 2, 10, 0);
  lost["before"] = access("writes", 1, 15, 5);
  const json end = {{"thread", 1},  {"does", "compares"}, {"object", ""},
                    {"place", "f"}, {"value", 1},         {"text", "thread 1 compares 1 with 2, in f"}};
  return {{"steps", {end, access("reads", 1, 30, 1), access("writes", 2, 20, 1), lost}}, {"end", "a constant"}};
}

BOOST_AUTO_TEST_CASE(an_inconsistent_way_is_noticed) {
  BOOST_TEST(wrong_in_way(good_way()) == "");
  const auto changed = [](const char* where, const json& value) {
    json way = good_way();
    way[json::json_pointer(where)] = value;
    return wrong_in_way(way);
  };
  BOOST_TEST(changed("/end", "") != "");
  BOOST_TEST(changed("/steps/2/event", 31) != "");
  BOOST_TEST(changed("/steps/2/value", 3) != "");
  BOOST_TEST(changed("/steps/2/address", 100) != "");
  BOOST_TEST(changed("/steps/3/event", 21) != "");
  BOOST_TEST(changed("/steps/1/thread", 3) != "");
  BOOST_TEST(changed("/steps/3/before/event", 25) != "");
  BOOST_TEST(changed("/steps/3/before/thread", 2) != "");
}

}  // namespace
}  // namespace reweave
