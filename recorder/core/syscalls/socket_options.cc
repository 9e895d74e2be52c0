// getsockopt and setsockopt. Nearly all options write only to the caller's buffer. The others are in a table.
#include <sys/socket.h>
#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/outputs.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr long kIp = 0, kTcp = 6, kIp6 = 41, kXdp = 283;  // levels

// Memory that the struct in the buffer points to: the offsets of its address and of the number of items.
struct Place {
  std::uint16_t address_at, count_at, item;
};

struct LeadingOption {
  long call, level, name;
  std::uint16_t bytes;  // size of the struct
  Place places[2];
};

// Replacing a table returns the counters of its rules (xt_counters in struct ipt_replace and others). The options that
// read a table of ebtables also return its contents through such pointers (struct ebt_replace).
constexpr std::uint16_t kCounters = 16, kEbtBytes = 120;
constexpr Place kEbtCounters = {104, 96, kCounters}, kEbtEntries = {112, 40, 1};
constexpr LeadingOption kLeading[] = {
    {SYS_setsockopt, kIp, 64 /* IPT_SO_SET_REPLACE */, 96, {{88, 84, kCounters}}},
    {SYS_setsockopt, kIp6, 64 /* IP6T_SO_SET_REPLACE */, 96, {{88, 84, kCounters}}},
    {SYS_setsockopt, kIp, 96 /* ARPT_SO_SET_REPLACE */, 80, {{72, 68, kCounters}}},
    {SYS_setsockopt, kIp, 128 /* EBT_SO_SET_ENTRIES */, kEbtBytes, {kEbtCounters}},
    {SYS_getsockopt, kIp, 129 /* EBT_SO_GET_ENTRIES */, kEbtBytes, {kEbtCounters, kEbtEntries}},
    {SYS_getsockopt, kIp, 131 /* EBT_SO_GET_INIT_ENTRIES */, kEbtBytes, {kEbtCounters, kEbtEntries}}};

const LeadingOption* find_leading(const Call& call) {
  for (const LeadingOption& option : kLeading)
    if (option.call == call.number && option.level == call.args[1] && option.name == call.args[2]) return &option;
  return nullptr;
}

// True for getsockopt, false for setsockopt.
bool gets_option(const Call& call) { return call.row->outs[0].kind != OutKind::kNone; }

// Options by which the kernel maps memory or writes it at arbitrary times: refused, as on a kernel without them.
bool shares_memory(const Call& call) {
  constexpr long kZeroCopyReceive = 35, kUmem = 4;  // TCP_ZEROCOPY_RECEIVE, XDP_UMEM_REG
  if (gets_option(call)) return call.args[1] == kTcp && call.args[2] == kZeroCopyReceive;
  return call.args[1] == kXdp && call.args[2] == kUmem;
}

long call_with_places(Call& call, const LeadingOption& option) {
  const auto buffer = static_cast<std::uint64_t>(call.args[3]);
  const bool gets = gets_option(call);
  const long result = sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4]);
  Output outputs[4] = {};
  std::uint32_t n = 0;
  if (gets) outputs[n++] = {static_cast<std::uint64_t>(call.args[4]), sizeof(std::uint32_t)};
  if (gets) outputs[n++] = {buffer, option.bytes};
  for (const Place& place : option.places) {
    if (place.item == 0 || is_error(result) || !is_there(buffer, option.bytes)) continue;
    const auto count = *reinterpret_cast<const std::uint32_t*>(buffer + place.count_at);
    const auto address = *reinterpret_cast<const std::uint64_t*>(buffer + place.address_at);
    if (address != 0) outputs[n++] = {address, std::uint64_t{count} * place.item};
  }
  for (std::uint32_t i = 0; i < n; i++) outputs[i].bytes = bytes_writable(outputs[i].address, outputs[i].bytes);
  log_call(call, result, outputs, n);
  return result;
}

// The length of SO_GET_FILTER, as argument and as result, is a number of filters, not of bytes (socket(7)). Length 0
// asks for the number of filters.
long get_filter(Call& call) {
  constexpr std::uint64_t kFilterBytes = 8;  // struct sock_filter
  const auto& length = *reinterpret_cast<const std::uint32_t*>(call.args[4]);
  const bool asks = length == 0;
  const long result = sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4]);
  const Output outputs[] = {{static_cast<std::uint64_t>(call.args[4]), sizeof length},
                            {static_cast<std::uint64_t>(call.args[3]), length * kFilterBytes}};
  log_call(call, result, outputs, is_error(result) ? 0 : asks ? 1 : 2);
  return result;
}

}  // namespace

long handle_getsockopt(Call& call) {
  constexpr long kGetFilter = 26;
  if (live() && shares_memory(call)) return complete(call, -ENOPROTOOPT);
  if (!live() || is_our_fd(call.args[0])) return recorded_call(call);
  if (call.args[1] == SOL_SOCKET && call.args[2] == kGetFilter) return get_filter(call);
  const LeadingOption* leading = find_leading(call);
  return leading != nullptr ? call_with_places(call, *leading) : recorded_call(call);
}

long handle_setsockopt(Call& call) {
  constexpr long kLimits[] = {20, 21, 66, 67};  // SO_RCVTIMEO, SO_SNDTIMEO, and their 64-bit variants
  if (live() && shares_memory(call)) return complete(call, -ENOPROTOOPT);
  const LeadingOption* leading = live() && !is_our_fd(call.args[0]) ? find_leading(call) : nullptr;
  const long result = leading != nullptr ? call_with_places(call, *leading) : recorded_call(call);
  for (long limit : kLimits)
    if (result == 0 && call.args[1] == SOL_SOCKET && call.args[2] == limit) {
      const auto* time = reinterpret_cast<const std::int64_t*>(call.args[3]);
      set_times_out(call.args[0], time[0] != 0 || time[1] != 0);
    }
  return result;
}

}  // namespace reweave::core
