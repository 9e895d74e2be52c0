// GdbStub's access to registers, memory and threads.
#include <fstream>

#include "formats/base/error.h"
#include "replayer/live/gdb_registers.h"
#include "replayer/live/gdb_signals.h"
#include "replayer/live/stub_parts.h"

namespace reweave {

namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string_view view_of(const std::vector<std::byte>& data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace

std::string GdbStub::name_of_thread(pid_t lwp) {
  const std::int32_t pid = pid_seen();
  for (const CoreThread& thread : process().core().threads())
    if (thread.real_tid == lwp) return fmt::format("p{:x}.{:x}", pid, thread.tid);
  return fmt::format("p{:x}.{:x}", pid, pid);
}

std::int32_t GdbStub::pid_seen() {
  if (!process().ended())
    if (const std::int32_t pid = process().core().recorded_pid(); pid > 0) recorded_pid_ = pid;
  return recorded_pid_;
}

pid_t GdbStub::lwp_named(std::string_view name) {
  if (name.empty()) return selected_;
  if (name.front() == 'p') {
    name.remove_prefix(1);
    take_hex(name);
    if (!name.empty()) name.remove_prefix(1);
  }
  if (name.substr(0, 2) == "-1" || name.empty()) return selected_;
  const auto tid = static_cast<std::int32_t>(take_hex(name));
  if (tid == 0) return selected_;
  for (const CoreThread& thread : process().core().threads())
    if (thread.tid == tid) return thread.real_tid;
  return 0;
}

std::string GdbStub::select(std::string_view rest) {
  const pid_t lwp = lwp_named(rest.substr(1));
  if (lwp == 0) return "E01";
  if (rest.front() == 'c')
    to_go_on_ = rest.substr(1);
  else
    selected_ = lwp;
  return "OK";
}

std::string GdbStub::registers(std::string_view) { return to_hex(view_of(all_registers(process(), selected_))); }

std::string GdbStub::features(std::string_view rest) { return part(target_description(), rest); }

std::string GdbStub::set_registers(std::string_view rest) {
  const std::string data = from_hex(rest);
  const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
  set_all_registers(process(), selected_, {bytes, bytes + data.size()});
  return "OK";
}

std::string GdbStub::register_(std::string_view rest) {
  const auto [at, bytes] = place_of_register(take_hex(rest));
  return bytes == 0 ? "E01" : to_hex(view_of(all_registers(process(), selected_)).substr(at, bytes));
}

std::string GdbStub::set_register(std::string_view rest) {
  const auto [at, bytes] = place_of_register(take_hex(rest));
  const std::string data = from_hex(rest.substr(rest.empty() ? 0 : 1));
  std::vector<std::byte> all = all_registers(process(), selected_);
  if (bytes == 0 || data.size() < bytes) return "E01";
  std::copy_n(reinterpret_cast<const std::byte*>(data.data()), bytes, all.begin() + static_cast<std::ptrdiff_t>(at));
  set_all_registers(process(), selected_, all);
  return "OK";
}

std::string GdbStub::read(std::string_view rest) {
  const std::uint64_t address = take_hex(rest);
  rest.remove_prefix(1);
  std::string data(std::min<std::uint64_t>(take_hex(rest), 0x10000), '\0');
  // Halve the size until all of it can be read.
  while (!data.empty() && !process().read(address, data.data(), data.size())) data.resize(data.size() / 2);
  return data.empty() ? "E14" : to_hex(data);
}

std::string GdbStub::write_bytes(std::uint64_t address, const std::string& data) {
  return process().write(address, data.data(), data.size()) ? "OK" : "E14";
}

std::string GdbStub::write(std::string_view rest) {
  const std::uint64_t address = take_hex(rest);
  return write_bytes(address, from_hex(rest.substr(std::min(rest.find(':') + 1, rest.size()))));
}

std::string GdbStub::write_raw(std::string_view rest) {
  const std::uint64_t address = take_hex(rest);
  return write_bytes(address, packet_unescaped(rest.substr(std::min(rest.find(':') + 1, rest.size()))));
}

std::string GdbStub::pass_signals(std::string_view rest) {
  passed_signals_.clear();
  while (!rest.empty()) {
    passed_signals_.insert(host_signal(static_cast<int>(take_hex(rest))));
    if (!rest.empty()) rest.remove_prefix(1);
  }
  process().passed_signals = passed_signals_;
  return "OK";
}

std::string GdbStub::part(const std::string& all, std::string_view range) {
  const std::uint64_t offset = take_hex(range);
  range.remove_prefix(1);
  const std::uint64_t length = take_hex(range);
  if (offset >= all.size()) return "l";
  const std::string_view some = std::string_view(all).substr(offset, length);
  return (offset + some.size() < all.size() ? "m" : "l") + packet_escaped(some);
}

std::string GdbStub::auxv(std::string_view rest) {
  return part(contents_of(fmt::format("/proc/{}/auxv", process().pid())), rest);
}

std::string GdbStub::signal_info(std::string_view rest) {
  return part(std::string(view_of(process().signal_info(selected_))), rest);
}

std::string GdbStub::threads(std::string_view rest) {
  std::string text = "<threads>";
  if (!process().ended())
    for (const pid_t lwp : process().lwps())
      for (const CoreThread& thread : process().core().threads())
        if (thread.real_tid == lwp)
          text += fmt::format("<thread id=\"{}\" name=\"t{} tid {}\"/>", name_of_thread(lwp), thread.index, thread.tid);
  return part(text + "</threads>", rest);
}

std::string GdbStub::storage(std::string_view rest) {
  const pid_t lwp = lwp_named(rest.substr(0, rest.find(',')));
  rest.remove_prefix(std::min(rest.find(',') + 1, rest.size()));
  const std::uint64_t offset = take_hex(rest);
  rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
  const std::uint64_t library = take_hex(rest);
  const auto address = storage_.address(process(), lwp, offset, library);
  return address ? fmt::format("{:x}", *address) : "E01";
}

}  // namespace reweave
