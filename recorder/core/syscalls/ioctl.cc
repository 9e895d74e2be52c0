// ioctl: what a request writes to its argument, by a table and by the size that newer requests carry (ioctl(2)).
#include <asm/ioctls.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/hdreg.h>
#include <linux/if_tun.h>
#include <linux/kd.h>
#include <linux/loop.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <linux/vt.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/fatal.h"
#include "recorder/core/syscalls/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint16_t kIfreqBytes = 40;

struct Request {
  std::uint32_t number;
  std::uint16_t bytes;  // written at the argument
  bool no_argument;
};

// Requests without a direction in their number, or with a wrong one: those of network tunnels name an int.
constexpr Request kRequests[] = {{TCGETS, 36, false},
                                 {TCGETA, 18, false},
                                 {TIOCGLCKTRMIOS, 36, false},
                                 {TIOCGWINSZ, 8, false},
                                 {TIOCGPGRP, 4, false},
                                 {TIOCGSID, 4, false},
                                 {TIOCOUTQ, 4, false},
                                 {FIONREAD, 4, false},
                                 {TIOCGETD, 4, false},
                                 {TIOCMGET, 4, false},
                                 {TIOCGSOFTCAR, 4, false},
                                 {TIOCGSERIAL, 72, false},
                                 {TIOCLINUX, 1, false},
                                 {TCSETS, 0, false},
                                 {TCSETSW, 0, false},
                                 {TCSETSF, 0, false},
                                 {TCSETA, 0, false},
                                 {TCSETAW, 0, false},
                                 {TCSETAF, 0, false},
                                 {TIOCSLCKTRMIOS, 0, false},
                                 {TIOCSWINSZ, 0, false},
                                 {TIOCSPGRP, 0, false},
                                 {TIOCSCTTY, 0, false},
                                 {TIOCNOTTY, 0, true},
                                 {TIOCEXCL, 0, true},
                                 {TIOCNXCL, 0, true},
                                 {TIOCCONS, 0, true},
                                 {TIOCSTI, 0, false},
                                 {TIOCPKT, 0, false},
                                 {TIOCSETD, 0, false},
                                 {TIOCMSET, 0, false},
                                 {TIOCMBIS, 0, false},
                                 {TIOCMBIC, 0, false},
                                 {TIOCSSOFTCAR, 0, false},
                                 {TIOCSBRK, 0, true},
                                 {TIOCCBRK, 0, true},
                                 {TIOCVHANGUP, 0, true},
                                 {TIOCGPTPEER, 0, false},
                                 {TCSBRK, 0, false},
                                 {TCSBRKP, 0, false},
                                 {TCFLSH, 0, false},
                                 {TCXONC, 0, false},
                                 {FIONBIO, 0, false},
                                 {FIOASYNC, 0, false},
                                 {FIOCLEX, 0, true},
                                 {FIONCLEX, 0, true},
                                 {FIOQSIZE, 8, false},
                                 {FIGETBSZ, 4, false},
                                 {FIBMAP, 4, false},
                                 {BLKGETSIZE, 8, false},
                                 {BLKSSZGET, 4, false},
                                 {BLKROGET, 4, false},
                                 {BLKRAGET, 8, false},
                                 {BLKSECTGET, 2, false},
                                 {BLKROTATIONAL, 2, false},
                                 {BLKALIGNOFF, 4, false},
                                 {BLKIOMIN, 4, false},
                                 {BLKIOOPT, 4, false},
                                 {BLKPBSZGET, 4, false},
                                 {BLKDISCARDZEROES, 4, false},
                                 {BLKFLSBUF, 0, true},
                                 {BLKRRPART, 0, true},
                                 {LOOP_GET_STATUS, 168, false},
                                 {LOOP_GET_STATUS64, 232, false},
                                 {LOOP_SET_FD, 0, false},
                                 {LOOP_CLR_FD, 0, true},
                                 {LOOP_SET_STATUS, 0, false},
                                 {LOOP_SET_STATUS64, 0, false},
                                 {LOOP_CHANGE_FD, 0, false},
                                 {LOOP_SET_CAPACITY, 0, true},
                                 {LOOP_SET_DIRECT_IO, 0, false},
                                 {LOOP_SET_BLOCK_SIZE, 0, false},
                                 {LOOP_CONFIGURE, 0, false},
                                 {LOOP_CTL_ADD, 0, false},
                                 {LOOP_CTL_REMOVE, 0, false},
                                 {LOOP_CTL_GET_FREE, 0, true},
                                 {HDIO_GETGEO, 16, false},
                                 {HDIO_GET_UNMASKINTR, 8, false},
                                 {HDIO_GET_MULTCOUNT, 8, false},
                                 {HDIO_GET_KEEPSETTINGS, 8, false},
                                 {HDIO_GET_32BIT, 8, false},
                                 {HDIO_GET_NOWERR, 8, false},
                                 {HDIO_GET_DMA, 8, false},
                                 {HDIO_GET_NICE, 8, false},
                                 {HDIO_GET_IDENTITY, 512, false},
                                 {TUNSETIFF, kIfreqBytes, false},
                                 {TUNGETIFF, kIfreqBytes, false},
                                 {VT_GETMODE, 8, false},
                                 {VT_GETSTATE, 6, false},
                                 {VT_OPENQRY, 4, false},
                                 {KDGETMODE, 4, false},
                                 {KDGETLED, 1, false},
                                 {KDGKBTYPE, 1, false},
                                 {KDGKBMODE, 4, false},
                                 {FS_IOC_GETFLAGS, 4, false},  // both name a long
                                 {FS_IOC_GETVERSION, 4, false},
                                 {NS_GET_OWNER_UID, 4, false},
                                 {0x5451 /* FIOCLEX */, 0, true}};

// Socket requests, 0x89..: those that answer in the struct ifreq that they are given.
constexpr std::uint32_t kFirstSocket = 0x8901, kLastSocket = 0x89ff;

std::uint64_t socket_output(std::uint32_t request) {
  switch (request) {
    case FIOGETOWN:
    case SIOCGPGRP:
    case SIOCATMARK:
      return 4;
    case SIOCGSTAMP_OLD:
    case SIOCGSTAMPNS_OLD:
      return 16;
    case FIOSETOWN:
    case SIOCSPGRP:
    case SIOCGIFCONF:  // its own outputs
      return 0;
    default:
      return kIfreqBytes;
  }
}

const Request* find_request(std::uint32_t number) {
  for (const Request& request : kRequests)
    if (request.number == number) return &request;
  return nullptr;
}

// Families whose numbers are older than the convention that "no direction" means no data.
bool from_before_sizes(std::uint32_t type) {
  constexpr std::uint8_t kOld[] = {0x00, 0x02, 0x03, 0x12, 0x22, 0x4b, 0x4c, 0x53, 0x54, 0x56};
  for (std::uint8_t old : kOld)
    if (old == type) return true;
  return false;
}

// Bytes that a request writes at its argument; -1: nothing says so.
long output_of(std::uint32_t request) {
  if (const Request* known = find_request(request)) return known->bytes;
  if (request >= kFirstSocket && request <= kLastSocket) return static_cast<long>(socket_output(request));
  const std::uint32_t direction = request >> 30, bytes = request >> 16 & 0x3fff;  // _IOC_DIR, _IOC_SIZE
  constexpr std::uint32_t kRead = 2;
  if (direction == 0 && bytes == 0) return from_before_sizes(request >> 8 & 0xff) ? -1 : 0;
  return (direction & kRead) != 0 ? static_cast<long>(bytes) : 0;
}

struct InterfaceList {  // struct ifconf
  std::int32_t bytes;
  std::uint64_t buffer;
};

struct InterfaceRequest {  // struct ifreq
  char name[16];
  std::uint64_t data;
};

// What is written where the argument points to, besides the argument itself.
std::uint32_t nested_outputs(std::uint32_t request, long argument, Output* to) {
  if (request == SIOCGIFCONF) {
    const auto& list = *reinterpret_cast<const InterfaceList*>(argument);
    to[0] = {static_cast<std::uint64_t>(argument), sizeof list};
    to[1] = {list.buffer, static_cast<std::uint64_t>(list.bytes)};
    return list.buffer != 0 && list.bytes > 0 ? 2 : 1;
  }
  if (request == SIOCETHTOOL) {
    constexpr std::uint64_t kMost = 512;  // the commands that only ask write less
    const auto& interface = *reinterpret_cast<const InterfaceRequest*>(argument);
    to[0] = {interface.data, kMost};
    return interface.data != 0 ? 1 : 0;
  }
  if (request == FS_IOC_FIEMAP) {
    const auto& map = *reinterpret_cast<const struct fiemap*>(argument);
    const std::uint64_t shown = map.fm_extent_count == 0 ? 0 : map.fm_mapped_extents;  // none: they are only counted
    to[0] = {reinterpret_cast<std::uint64_t>(map.fm_extents), shown * sizeof(struct fiemap_extent)};
    return shown != 0 ? 1 : 0;
  }
  return 0;
}

[[noreturn]] void unknown_request(std::uint32_t request) {
  Text text;
  text << "ioctl request ";
  text.hex(request) << " is not known to Reweave; add it to recorder/core/syscalls/ioctl.cc";
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

}  // namespace

long handle_ioctl(Call& call) {
  const auto request = static_cast<std::uint32_t>(call.args[1]);
  const Request* known = find_request(request);
  if (known != nullptr && known->no_argument) use_arguments(call, 2);
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  if (!live()) return answered_call(call);
  const long bytes = output_of(request);
  const long result = sys(SYS_ioctl, call.args[0], call.args[1], call.args[2]);
  if (bytes < 0 && !is_error(result)) unknown_request(request);  // of a request that fails its error is all there is
  if (request == TIOCGPTPEER && !is_error(result)) forget_fd(result);
  Output outputs[3] = {{static_cast<std::uint64_t>(call.args[2]), bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0}};
  std::uint32_t n = outputs[0].address != 0 && outputs[0].bytes != 0 ? 1 : 0;
  if (is_error(result)) n = 0;
  if (!is_error(result)) n += nested_outputs(request, call.args[2], outputs + n);
  // Sizes are the most that may be written.
  for (std::uint32_t i = 0; i < n; i++) outputs[i].bytes = bytes_there(outputs[i].address, outputs[i].bytes);
  log_call(call, result, outputs, n);
  return result;
}

}  // namespace reweave::core
