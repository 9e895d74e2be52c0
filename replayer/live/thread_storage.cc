#include "replayer/live/thread_storage.h"

#include "replayer/live/packets.h"

namespace reweave {

namespace {

// Symbols of three words each: bits, count, and offset in bytes (glibc, nptl_db/db_info.c).
constexpr const char* kAsked[] = {"_thread_db_link_map_l_tls_modid", "_thread_db_pthread_dtvp"};
constexpr std::uint64_t kSlotBytes = 16;  // a slot of a thread's vector: the storage, and the block to free
constexpr std::uint64_t kNotMade = ~0ull;

}  // namespace

std::string ThreadStorage::answer(std::string_view rest) {
  if (rest == ":") {  // gdb has new symbols
    asked_ = 0;
  } else {
    const std::string_view value = rest.substr(0, rest.find(':'));
    std::string_view digits = value;
    if (!value.empty() && rest.size() > value.size())
      symbols_[from_hex(rest.substr(value.size() + 1))] = take_hex(digits);
  }
  if (asked_ == std::size(kAsked)) return "OK";
  return "qSymbol:" + to_hex(kAsked[asked_++]);
}

std::optional<std::uint64_t> ThreadStorage::address(const TracedProcess& process, pid_t lwp, std::uint64_t offset,
                                                    std::uint64_t library) const {
  std::uint32_t places[std::size(kAsked)];
  for (std::size_t i = 0; i < std::size(kAsked); i++) {
    const auto found = symbols_.find(kAsked[i]);
    std::uint32_t words[3];
    if (found == symbols_.end() || !process.read(found->second, words, sizeof words)) return {};
    places[i] = words[2];
  }
  std::uint64_t module = 1, vector = 0, start = 0;  // module 1 if there is no link map, because the program is static
  if (library != 0 && !process.read(library + places[0], &module, sizeof module)) return {};
  if (!process.read(process.registers(lwp).fs_base + places[1], &vector, sizeof vector)) return {};
  std::uint64_t slots = 0;  // the number of slots, stored before the first one
  if (!process.read(vector - kSlotBytes, &slots, sizeof slots) || module > slots) return {};
  if (!process.read(vector + module * kSlotBytes, &start, sizeof start) || start == kNotMade || start == 0) return {};
  return start + offset;
}

}  // namespace reweave
