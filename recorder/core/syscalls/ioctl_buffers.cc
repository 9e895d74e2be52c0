#include "recorder/core/syscalls/ioctl_buffers.h"

#include <linux/blkzoned.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fsmap.h>
#include <linux/kd.h>
#include <linux/sockios.h>

namespace reweave::core {

namespace {

// Newer than the headers may be.
constexpr std::uint32_t kExtentCache = 0xc020662a;  // EXT4_IOC_GET_ES_CACHE
constexpr std::uint32_t kPagemapScan = 0xc0606610;  // PAGEMAP_SCAN
constexpr std::uint32_t kGetTallFont = 5;           // KD_FONT_OP_GET_TALL

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

Output answer_of_interface(long argument, long) {
  constexpr std::uint64_t kMost = 512;  // the commands that only ask write less
  return {at<InterfaceRequest>(argument).data, kMost};
}

// With no room for any they are only counted.
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
  constexpr std::uint64_t kRows = 32;  // of a glyph, but for tall ones
  const auto& font = at<struct console_font_op>(argument);
  const std::uint64_t rows = font.height > kRows ? font.height : kRows;
  const bool gets = font.op == KD_FONT_OP_GET || font.op == kGetTallFont;
  return {reinterpret_cast<std::uint64_t>(font.data), gets ? (font.width + 7) / 8 * rows * font.charcount : 0};
}

// What a request writes where its argument leads to, besides the argument itself.
struct NestedOutput {
  std::uint32_t request;
  Output (*find)(long argument, long result);
};

constexpr NestedOutput kNestedOutputs[] = {{SIOCGIFCONF, interfaces},
                                           {SIOCETHTOOL, answer_of_interface},
                                           {FS_IOC_FIEMAP, extents},
                                           {kExtentCache, extents},
                                           {FS_IOC_GETFSMAP, space_of_file_system},
                                           {FIDEDUPERANGE, files_compared},
                                           {kPagemapScan, pages_found},
                                           {BLKREPORTZONE, zones},
                                           {GIO_UNIMAP, characters},
                                           {KDFONTOP, glyphs}};

}  // namespace

std::uint32_t output_apart(std::uint32_t request, long argument, long result, Output* to) {
  for (const NestedOutput& nested : kNestedOutputs)
    if (nested.request == request) {
      *to = nested.find(argument, result);
      return to->address != 0 && to->bytes != 0 ? 1 : 0;
    }
  return 0;
}

}  // namespace reweave::core
