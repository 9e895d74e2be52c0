// ioctl: what a request writes to its argument, by a table and by the size that newer requests carry (ioctl(2)).
#include <asm/ioctls.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <linux/hdreg.h>
#include <linux/if_tun.h>
#include <linux/kd.h>
#include <linux/loop.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <linux/vt.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/ioctl_buffers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint16_t kIfreqBytes = 40, kIfconfBytes = 16;

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
                                 {BLKFRAGET, 8, false},
                                 {BLKFLSBUF, 0, true},
                                 {BLKRRPART, 0, true},
                                 {BLKTRACESTART, 0, true},
                                 {BLKTRACESTOP, 0, true},
                                 {BLKTRACETEARDOWN, 0, true},
                                 {BLKROSET, 0, false},
                                 {BLKRASET, 0, false},
                                 {BLKFRASET, 0, false},
                                 {BLKSECTSET, 0, false},
                                 {BLKPG, 0, false},
                                 {BLKDISCARD, 0, false},
                                 {BLKSECDISCARD, 0, false},
                                 {BLKZEROOUT, 0, false},
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
                                 {VT_GETHIFONTMASK, 2, false},
                                 {VT_WAITEVENT, sizeof(struct vt_event), false},
                                 {VT_SETMODE, 0, false},
                                 {VT_SENDSIG, 0, false},
                                 {VT_RELDISP, 0, false},
                                 {VT_ACTIVATE, 0, false},
                                 {VT_WAITACTIVE, 0, false},
                                 {VT_SETACTIVATE, 0, false},
                                 {VT_DISALLOCATE, 0, false},
                                 {VT_RESIZE, 0, false},
                                 {VT_RESIZEX, 0, false},
                                 {VT_LOCKSWITCH, 0, true},
                                 {VT_UNLOCKSWITCH, 0, true},
                                 {KDGETMODE, 4, false},
                                 {KDGETLED, 1, false},
                                 {KDGKBTYPE, 1, false},
                                 {KDGKBMODE, 4, false},
                                 {KDGKBMETA, 4, false},
                                 {KDGKBLED, 1, false},
                                 {KDGKBENT, sizeof(struct kbentry), false},
                                 {KDGKBSENT, sizeof(struct kbsentry), false},
                                 {KDGKBDIACR, sizeof(struct kbdiacrs), false},
                                 {KDGKBDIACRUC, sizeof(struct kbdiacrsuc), false},
                                 {KDGETKEYCODE, sizeof(struct kbkeycode), false},
                                 {KDKBDREP, sizeof(struct kbd_repeat), false},
                                 {GIO_SCRNMAP, E_TABSZ, false},
                                 {GIO_UNISCRNMAP, 2 * E_TABSZ, false},
                                 {GIO_UNIMAP, sizeof(struct unimapdesc), false},
                                 {GIO_CMAP, 48, false},
                                 {KIOCSOUND, 0, false},
                                 {KDMKTONE, 0, false},
                                 {KDSETLED, 0, false},
                                 {KDSETMODE, 0, false},
                                 {KDMAPDISP, 0, true},
                                 {KDUNMAPDISP, 0, true},
                                 {KDSKBMODE, 0, false},
                                 {KDSKBMETA, 0, false},
                                 {KDSKBLED, 0, false},
                                 {KDSKBENT, 0, false},
                                 {KDSKBSENT, 0, false},
                                 {KDSKBDIACR, 0, false},
                                 {KDSKBDIACRUC, 0, false},
                                 {KDSETKEYCODE, 0, false},
                                 {KDSIGACCEPT, 0, false},
                                 {KDFONTOP, sizeof(struct console_font_op), false},
                                 {PIO_SCRNMAP, 0, false},
                                 {PIO_UNISCRNMAP, 0, false},
                                 {PIO_UNIMAP, 0, false},
                                 {PIO_UNIMAPCLR, 0, false},
                                 {PIO_CMAP, 0, false},
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
      return 0;
    case SIOCGIFCONF:
      return kIfconfBytes;
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
  const long result = lent_call(SYS_ioctl, call.args[0], call.args[1], call.args[2]);
  if (bytes < 0 && !is_error(result)) unknown_request(request);  // of a request that fails its error is all there is
  if (request == TIOCGPTPEER && !is_error(result)) forget_fd(result);
  Output outputs[2] = {{static_cast<std::uint64_t>(call.args[2]), bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0}};
  std::uint32_t n = outputs[0].address != 0 && outputs[0].bytes != 0 ? 1 : 0;
  if (is_error(result)) n = 0;
  if (!is_error(result)) n += output_apart(request, call.args[2], result, outputs + n);
  // Sizes are the most that may be written.
  for (std::uint32_t i = 0; i < n; i++) outputs[i].bytes = bytes_writable(outputs[i].address, outputs[i].bytes);
  log_call(call, result, outputs, n);
  return result;
}

}  // namespace reweave::core
