#include "recorder/core/syscalls/ioctl_buffers.h"

#include <linux/blkzoned.h>
#include <linux/ethtool.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fsmap.h>
#include <linux/if_bridge.h>
#include <linux/kd.h>
#include <linux/sockios.h>

#include "recorder/core/syscalls/outputs.h"

namespace reweave::core {

namespace {

// The headers may be too old to define these.
constexpr std::uint32_t kExtentCache = 0xc020662a;       // EXT4_IOC_GET_ES_CACHE
constexpr std::uint32_t kPagemapScan = 0xc0606610;       // PAGEMAP_SCAN
constexpr std::uint32_t kMappingQuery = 0xc0686611;      // PROCMAP_QUERY
constexpr std::uint32_t kVerityDigest = 0xc0046686;      // FS_IOC_MEASURE_VERITY
constexpr std::uint32_t kVerityMetadata = 0xc0286687;    // FS_IOC_READ_VERITY_METADATA
constexpr std::uint32_t kEncryptionPolicy = 0xc0096616;  // FS_IOC_GET_ENCRYPTION_POLICY_EX
constexpr std::uint32_t kBtrfsPaths = 0xc0389423;        // BTRFS_IOC_INO_PATHS
constexpr std::uint32_t kBtrfsLogical = 0xc0389424;      // BTRFS_IOC_LOGICAL_INO
constexpr std::uint32_t kBtrfsLogical2 = 0xc038943b;     // BTRFS_IOC_LOGICAL_INO_V2
constexpr std::uint32_t kBtrfsSearch = 0xc0709411;       // BTRFS_IOC_TREE_SEARCH_V2
constexpr std::uint32_t kBtrfsSpace = 0xc0109414;        // BTRFS_IOC_SPACE_INFO
constexpr std::uint32_t kGetTallFont = 5;                // KD_FONT_OP_GET_TALL

struct InterfaceList {  // struct ifconf
  std::int32_t bytes;
  std::uint64_t buffer;
};

struct InterfaceRequest {  // struct ifreq
  char name[16];
  std::uint64_t data;
};

template <typename Argument>
const Argument& at(long argument) {
  return *reinterpret_cast<const Argument*>(argument);
}

template <typename T>
std::uint64_t address_of(const T& object) {
  return reinterpret_cast<std::uint64_t>(&object);
}

Output interfaces(long argument, long) {
  const auto& list = at<InterfaceList>(argument);
  return {list.buffer, list.bytes > 0 ? static_cast<std::uint64_t>(list.bytes) : 0};
}

// Commands of SIOCETHTOOL whose answer has a count of items, followed by the items.
struct Counted {
  std::uint32_t command;
  std::uint16_t count_at, items_at, item;
};
constexpr Counted kEthernet[] = {
    {ETHTOOL_GREGS, 8, 12, 1},     {ETHTOOL_GEEPROM, 12, 16, 1},      {ETHTOOL_GMODULEEEPROM, 12, 16, 1},
    {ETHTOOL_TEST, 12, 16, 8},     {ETHTOOL_GSTRINGS, 8, 12, 32},     {ETHTOOL_GSTATS, 4, 8, 8},
    {ETHTOOL_GPHYSTATS, 4, 8, 8},  {ETHTOOL_GPERMADDR, 4, 8, 1},      {ETHTOOL_GRXFHINDIR, 4, 8, 4},
    {ETHTOOL_GFEATURES, 4, 8, 16}, {ETHTOOL_GET_DUMP_DATA, 12, 16, 1}};

Output answer_of_interface(long argument, long) {
  constexpr std::uint64_t kMost = 4096;  // upper bound for the other commands
  const std::uint64_t data = at<InterfaceRequest>(argument).data;
  if (data == 0) return {};
  const auto word = [data](std::uint64_t offset) { return *reinterpret_cast<const std::uint32_t*>(data + offset); };
  for (const Counted& known : kEthernet)
    if (known.command == word(0)) return {data, known.items_at + std::uint64_t{word(known.count_at)} * known.item};
  return {data, kMost};
}

Output times_of_interface(long argument, long) {
  constexpr std::uint64_t kBytes = 12;  // struct hwtstamp_config
  return {at<InterfaceRequest>(argument).data, kBytes};
}

Output bonding(long argument, long) {
  constexpr std::uint64_t kBytes = 28;  // struct ifslave, struct ifbond is shorter
  return {at<InterfaceRequest>(argument).data, kBytes};
}

// A bridge command, as the argument of SIOCGIFBR or at the address in a struct ifreq: a number and a buffer
// (linux/if_bridge.h).
struct BridgeCommand {
  std::uint64_t number, buffer, count, offset;
};

// The number of bytes that a command writes to its buffer.
std::uint64_t bridge_output(const BridgeCommand& command, long result) {
  constexpr std::uint64_t kPortsByDefault = 256, kMostPorts = 1024;
  const std::uint64_t found = result > 0 ? static_cast<std::uint64_t>(result) : 0;
  const std::uint64_t ports = command.count == 0 ? kPortsByDefault : command.count;
  switch (command.number) {
    case BRCTL_GET_BRIDGES:
      return found * sizeof(int);
    case BRCTL_GET_BRIDGE_INFO:
      return sizeof(struct __bridge_info);
    case BRCTL_GET_PORT_INFO:
      return sizeof(struct __port_info);
    case BRCTL_GET_PORT_LIST:
      return (ports < kMostPorts ? ports : kMostPorts) * sizeof(int);
    case BRCTL_GET_FDB_ENTRIES:
      return found * sizeof(struct __fdb_entry);
    default:
      return 0;
  }
}

Output bridges(long argument, long result) {
  const auto& command = at<BridgeCommand>(argument);  // without `offset`
  return {command.buffer, bridge_output(command, result)};
}

// The address in the struct ifreq of a device-specific request leads to a command (bridges) or to parameters that begin
// with a name (tunnels).
bool is_bridge_command(std::uint64_t data) {
  return is_there(data, sizeof(BridgeCommand)) && reinterpret_cast<const BridgeCommand*>(data)->number < 0x20;
}

Output device_command(long argument, long result) {
  const std::uint64_t data = at<InterfaceRequest>(argument).data;
  if (!is_bridge_command(data)) return {};
  const auto& command = *reinterpret_cast<const BridgeCommand*>(data);
  return {command.buffer, bridge_output(command, result)};
}

Output device_parameters(long argument, long) {
  constexpr std::uint64_t kTunnel = 128;  // struct ip6_tnl_parm2 and the others
  return {at<InterfaceRequest>(argument).data, kTunnel};
}

// With no room for extents, they are only counted.
Output extents(long argument, long) {
  const auto& map = at<struct fiemap>(argument);
  const std::uint64_t shown = map.fm_extent_count == 0 ? 0 : map.fm_mapped_extents;
  return {address_of(map.fm_extents), shown * sizeof(struct fiemap_extent)};
}

Output space_of_file_system(long argument, long) {
  const auto& map = at<struct fsmap_head>(argument);
  const std::uint64_t shown = map.fmh_count == 0 ? 0 : map.fmh_entries;
  return {address_of(map.fmh_recs), shown * sizeof(struct fsmap)};
}

Output files_compared(long argument, long) {
  const auto& range = at<struct file_dedupe_range>(argument);
  return {address_of(range.info), range.dest_count * sizeof(struct file_dedupe_range_info)};
}

Output pages_found(long argument, long result) {
  constexpr std::uint64_t kVector = 5, kRegionBytes = 24;  // of struct pm_scan_arg; struct page_region
  return {(&at<std::uint64_t>(argument))[kVector], static_cast<std::uint64_t>(result) * kRegionBytes};
}

Output zones(long argument, long) {
  const auto& report = at<struct blk_zone_report>(argument);
  return {address_of(report.zones), report.nr_zones * sizeof(struct blk_zone)};
}

Output characters(long argument, long) {
  const auto& map = at<struct unimapdesc>(argument);
  return {reinterpret_cast<std::uint64_t>(map.entries), map.entry_ct * sizeof(struct unipair)};
}

Output glyphs(long argument, long) {
  constexpr std::uint64_t kRows = 32;  // per glyph, except for tall ones
  const auto& font = at<struct console_font_op>(argument);
  const std::uint64_t rows = font.height > kRows ? font.height : kRows;
  const bool gets = font.op == KD_FONT_OP_GET || font.op == kGetTallFont;
  return {reinterpret_cast<std::uint64_t>(font.data), gets ? (font.width + 7) / 8 * rows * font.charcount : 0};
}

// The numbers of some requests encode only the size of a struct that data follows. Returns that data, with or without
// the struct.
Output digest_of_file(long argument, long) {
  constexpr std::uint64_t kHead = 4;  // struct fsverity_digest
  return {static_cast<std::uint64_t>(argument), kHead + (&at<std::uint16_t>(argument))[1]};
}

Output encryption_of_file(long argument, long) {
  return {static_cast<std::uint64_t>(argument), sizeof(std::uint64_t) + at<std::uint64_t>(argument)};
}

Output device_mapper(long argument, long) {
  constexpr int kSize = 3;  // data_size of struct dm_ioctl
  return {static_cast<std::uint64_t>(argument), (&at<std::uint32_t>(argument))[kSize]};
}

Output metadata_of_verity(long argument, long result) {
  constexpr int kBuffer = 3;
  return {(&at<std::uint64_t>(argument))[kBuffer], result > 0 ? static_cast<std::uint64_t>(result) : 0};
}

Output paths_of_btrfs(long argument, long) {
  constexpr int kSize = 1, kBuffer = 6;  // of struct btrfs_ioctl_ino_path_args and of btrfs_ioctl_logical_ino_args
  const auto* words = &at<std::uint64_t>(argument);
  return {words[kBuffer], words[kSize]};
}

Output search_of_btrfs(long argument, long) {
  constexpr int kSize = 13, kBuffer = 14;  // of struct btrfs_ioctl_search_args_v2
  const auto* words = &at<std::uint64_t>(argument);
  return {address_of(words[kBuffer]), words[kSize]};
}

Output space_of_btrfs(long argument, long) {
  constexpr std::uint64_t kHead = 16, kItem = 24;
  return {static_cast<std::uint64_t>(argument) + kHead, at<std::uint64_t>(argument) * kItem};
}

struct MappingQuery {  // struct procmap_query
  std::uint64_t words[10];
  std::uint32_t name_bytes, id_bytes;
  std::uint64_t name, id;
};

Output name_of_mapping(long argument, long) {
  const auto& query = at<MappingQuery>(argument);
  return {query.name, query.name_bytes};
}

Output id_of_mapping(long argument, long) {
  const auto& query = at<MappingQuery>(argument);
  return {query.id, query.id_bytes};
}

// Memory that a request writes through its argument, besides the argument itself. A request that writes to two places
// has two consecutive rows. With a mask, one row covers a family of requests.
struct NestedOutput {
  std::uint32_t mask, request;
  Output (*find)(long argument, long result);
};

constexpr std::uint32_t kAll = 0xffff'ffff, kDevice = 0xffff'fff0, kType = 0xff00;
constexpr NestedOutput kNestedOutputs[] = {{kAll, SIOCGIFCONF, interfaces},
                                           {kAll, SIOCETHTOOL, answer_of_interface},
                                           {kAll, SIOCGHWTSTAMP, times_of_interface},
                                           {kAll, SIOCSHWTSTAMP, times_of_interface},
                                           {kAll, SIOCBONDSLAVEINFOQUERY, bonding},
                                           {kAll, SIOCBONDINFOQUERY, bonding},
                                           {kAll, SIOCGIFBR, bridges},
                                           {kDevice, SIOCDEVPRIVATE, device_parameters},
                                           {kDevice, SIOCDEVPRIVATE, device_command},
                                           {kAll, FS_IOC_FIEMAP, extents},
                                           {kAll, kExtentCache, extents},
                                           {kAll, FS_IOC_GETFSMAP, space_of_file_system},
                                           {kAll, FIDEDUPERANGE, files_compared},
                                           {kAll, kPagemapScan, pages_found},
                                           {kAll, kMappingQuery, name_of_mapping},
                                           {kAll, kMappingQuery, id_of_mapping},
                                           {kAll, kVerityDigest, digest_of_file},
                                           {kAll, kVerityMetadata, metadata_of_verity},
                                           {kAll, kEncryptionPolicy, encryption_of_file},
                                           {kAll, kBtrfsPaths, paths_of_btrfs},
                                           {kAll, kBtrfsLogical, paths_of_btrfs},
                                           {kAll, kBtrfsLogical2, paths_of_btrfs},
                                           {kAll, kBtrfsSearch, search_of_btrfs},
                                           {kAll, kBtrfsSpace, space_of_btrfs},
                                           {kType, 0xfd00, device_mapper},
                                           {kAll, BLKREPORTZONE, zones},
                                           {kAll, GIO_UNIMAP, characters},
                                           {kAll, KDFONTOP, glyphs}};

bool is_of(const NestedOutput& nested, std::uint32_t request) { return nested.request == (request & nested.mask); }

bool is_of_device(std::uint32_t request) { return (request & kDevice) == SIOCDEVPRIVATE; }

}  // namespace

bool has_outputs_apart(std::uint32_t request) {
  for (const NestedOutput& nested : kNestedOutputs)
    if (is_of(nested, request)) return true;
  return false;
}

bool leads_further(std::uint32_t request, std::uint64_t argument) {
  constexpr std::uint64_t kLooked = 64;
  if (!is_of_device(request) || !is_there(argument, sizeof(InterfaceRequest))) return false;
  const std::uint64_t data = reinterpret_cast<const InterfaceRequest*>(argument)->data;
  return !is_bridge_command(data) && holds_address(data, kLooked);
}

bool holds_address(std::uint64_t from, std::uint64_t bytes) {
  for (std::uint64_t at = from; at + sizeof at <= from + bytes; at += sizeof at)
    if (is_there(at, sizeof at) && region_at(*reinterpret_cast<const std::uint64_t*>(at)) != nullptr) return true;
  return false;
}

std::uint32_t outputs_apart(std::uint32_t request, long argument, long result, Output* to) {
  std::uint32_t n = 0;
  for (const NestedOutput& nested : kNestedOutputs) {
    if (!is_of(nested, request)) continue;
    to[n] = nested.find(argument, result);
    n += to[n].address != 0 && to[n].bytes != 0 ? 1 : 0;
  }
  return n;
}

}  // namespace reweave::core
