#include "formats/recording/schedule.h"

#include "formats/base/message.h"
#include "formats/schedule.capnp.h"

namespace reweave {
namespace {

Schedule schedule_of(schema::Schedule::Reader from) {
  Schedule schedule;
  schedule.policy = string_of(from.getPolicy());
  schedule.seed = from.getSeed();
  for (const auto item : checked_list(from.getSwitches())) {
    if (!schedule.switches.empty() && item.getStep() <= schedule.switches.back().step)
      throw Malformed("the switches of a schedule are out of order");
    schedule.switches.push_back({item.getStep(), item.getFromThread(), item.getToThread()});
  }
  for (const auto param : checked_list(from.getParams()))
    schedule.params.emplace_back(string_of(param.getName()), string_of(param.getValue()));
  return schedule;
}

}  // namespace

Schedule read_schedule(const std::string& path) {
  Schedule schedule;
  MessageFile(path, FileType::kSchedule).read<schema::Schedule>([&](schema::Schedule::Reader root) {
    schedule = schedule_of(root);
  });
  return schedule;
}

void write_schedule(const std::string& path, const Schedule& schedule) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<schema::Schedule>();
  root.setPolicy(schedule.policy);
  root.setSeed(schedule.seed);
  auto switches = root.initSwitches(list_size(schedule.switches.size()));
  for (unsigned i = 0; i < switches.size(); ++i) {
    const ScheduleSwitch& from = schedule.switches[i];
    CHECK(i == 0 || from.step > schedule.switches[i - 1].step, "switches out of order");
    switches[i].setStep(from.step);
    switches[i].setFromThread(from.from);
    switches[i].setToThread(from.to);
  }
  auto params = root.initParams(list_size(schedule.params.size()));
  for (unsigned i = 0; i < params.size(); ++i) {
    params[i].setName(schedule.params[i].first);
    params[i].setValue(schedule.params[i].second);
  }
  OutputFile output(path);
  write_message_file(output, FileType::kSchedule, message);
}

}  // namespace reweave
