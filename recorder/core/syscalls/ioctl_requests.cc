#include "recorder/core/syscalls/ioctl_requests.h"

#include <asm/ioctls.h>
#include <linux/blkpg.h>
#include <linux/cdrom.h>
#include <linux/fs.h>
#include <linux/hdreg.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <linux/if_vlan.h>
#include <linux/kd.h>
#include <linux/loop.h>
#include <linux/nsfs.h>
#include <linux/random.h>
#include <linux/rtc.h>
#include <linux/sockios.h>
#include <linux/vt.h>

namespace reweave::core {

namespace {

constexpr std::uint16_t kIfreqBytes = 40, kIfconfBytes = 16;
// The headers may be too old to define these.
constexpr std::uint32_t kSocketNamespace = 0x894c;  // SIOCGSKNS
constexpr std::uint32_t kVmCalls = 0xae00;          // _IO(KVMIO, 0)

// Requests whose number has no direction, or encodes the argument wrongly: the numbers of network tunnels (TUNSETIFF)
// encode an int. Requests with a right number are listed too if their argument holds addresses that are unused, or that
// point to memory that the kernel only reads.
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
                                 {TIOCSSERIAL, 0, false},
                                 {TIOCGICOUNT, 80, false},
                                 {TIOCSERGETLSR, 4, false},
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
                                 {FS_IOC_GETFLAGS, 4, false},  // the numbers of both encode a long
                                 {FS_IOC_GETVERSION, 4, false},
                                 {NS_GET_OWNER_UID, 4, false},
                                 {0x5451 /* FIOCLEX */, 0, true},
                                 // Sockets: requests that do not answer in the struct ifreq that they are given.
                                 {FIOGETOWN, 4, false},
                                 {SIOCGPGRP, 4, false},
                                 {SIOCATMARK, 4, false},
                                 {SIOCOUTQNSD, 4, false},
                                 {SIOCGSTAMP_OLD, 16, false},
                                 {SIOCGSTAMPNS_OLD, 16, false},
                                 {FIOSETOWN, 0, false},
                                 {SIOCSPGRP, 0, false},
                                 {SIOCGIFCONF, kIfconfBytes, false},
                                 {SIOCGARP, sizeof(struct arpreq), false},
                                 {SIOCDARP, 0, false},
                                 {SIOCSARP, 0, false},
                                 {SIOCGIFVLAN, sizeof(struct vlan_ioctl_args), false},
                                 {SIOCSIFVLAN, sizeof(struct vlan_ioctl_args), false},
                                 {SIOCADDRT, 0, false},
                                 {SIOCDELRT, 0, false},
                                 {SIOCGIFBR, 0, false},
                                 {SIOCSIFBR, 0, false},
                                 {SIOCBRADDBR, 0, false},
                                 {SIOCBRDELBR, 0, false},
                                 {kSocketNamespace, 0, true},
                                 // Requests that only read through pointers.
                                 {TUNATTACHFILTER, 0, false},
                                 {TUNDETACHFILTER, 0, false},
                                 {TUNGETFILTER, 16, false},
                                 {TUNSETTXFILTER, 0, false},
                                 {0x40107447 /* PPPIOCSPASS */, 0, false},
                                 {0x40107446 /* PPPIOCSACTIVE */, 0, false},
                                 {0x4010744d /* PPPIOCSCOMPRESS */, 0, false},
                                 {0x40806685 /* FS_IOC_ENABLE_VERITY */, 0, false},
                                 {0x40304580 /* EVIOCSFF */, 0, false},
                                 {0x07b9 /* IOCTL_VM_SOCKETS_GET_LOCAL_CID */, 4, false},
                                 // Requests without an argument, or with a number as argument.
                                 {NS_GET_USERNS, 0, true},
                                 {NS_GET_PARENT, 0, true},
                                 {NS_GET_NSTYPE, 0, true},
                                 {RNDZAPENTCNT, 0, true},
                                 {RNDCLEARPOOL, 0, true},
                                 {0x5207 /* RNDRESEEDCRNG */, 0, true},
                                 {RTC_AIE_ON, 0, true},
                                 {RTC_AIE_OFF, 0, true},
                                 {RTC_UIE_ON, 0, true},
                                 {RTC_UIE_OFF, 0, true},
                                 {RTC_PIE_ON, 0, true},
                                 {RTC_PIE_OFF, 0, true},
                                 {RTC_WIE_ON, 0, true},
                                 {RTC_WIE_OFF, 0, true},
                                 {CDROMEJECT, 0, true},
                                 {CDROMCLOSETRAY, 0, true},
                                 {CDROM_DRIVE_STATUS, 0, false},
                                 {CDROM_DISC_STATUS, 0, true},
                                 {CDROM_GET_CAPABILITY, 0, true},
                                 {0x5501 /* UI_DEV_CREATE */, 0, true},
                                 {0x5502 /* UI_DEV_DESTROY */, 0, true},
                                 {0x9408 /* BTRFS_IOC_SYNC */, 0, true},
                                 {kVmCalls + 0 /* KVM_GET_API_VERSION */, 0, true},
                                 {kVmCalls + 3 /* KVM_CHECK_EXTENSION */, 0, false},
                                 {kVmCalls + 4 /* KVM_GET_VCPU_MMAP_SIZE */, 0, true}};

// These write memory at arbitrary times, or more of it than their numbers say.
struct BeyondUs {
  std::uint32_t mask, number;
  const char* name;
};

constexpr std::uint32_t kType = 0xff00, kAll = 0xffff'ffff;
constexpr BeyondUs kBeyondUs[] = {{kType, 0xae00, "KVM"},
                                  {kType, 0xaf00, "vhost"},
                                  {kType, 0xa400, "TEE"},
                                  {kType, 0x4100, "sound"},
                                  {kAll, 0x8010'4592, "EVIOCGMASK"},
                                  {kAll, 0xc020'5826, "XFS_IOC_GETBMAP"},
                                  {kAll, 0xc020'582d, "XFS_IOC_GETBMAPA"},
                                  {kAll, 0xc030'5838, "XFS_IOC_GETBMAPX"},
                                  {kAll, 0x8038'550a, "USBDEVFS_SUBMITURB"},
                                  {kAll, 0x4008'550c, "USBDEVFS_REAPURB"},
                                  {kAll, 0x4008'550d, "USBDEVFS_REAPURBNDELAY"},
                                  {kAll, 0x8004'48d2, "HCIGETDEVLIST"},
                                  {kAll, 0x8004'48d3, "HCIGETDEVINFO"},
                                  {kAll, 0x8004'48d4, "HCIGETCONNLIST"},
                                  {kAll, 0x8004'48d5, "HCIGETCONNINFO"},
                                  {kAll, 0x8004'48d7, "HCIGETAUTHINFO"},
                                  {kAll, 0x8004'48f0, "HCIINQUIRY"}};

// Socket requests, 0x8901 to 0x89ff. They answer in the struct ifreq that they are given, except for a protocol's own
// requests, which write up to kProtocolBytes.
constexpr std::uint32_t kFirstSocket = 0x8901, kFirstOfProtocol = 0x89e0, kFirstOfDevice = 0x89f0, kLastSocket = 0x89ff;
constexpr std::uint16_t kProtocolBytes = 128;

constexpr std::uint32_t kNewDescriptors[] = {TIOCGPTPEER, kSocketNamespace, NS_GET_USERNS, NS_GET_PARENT};

// PIDFD_GET_CGROUP_NAMESPACE and the others
bool is_namespace_of_pidfd(std::uint32_t request) { return request > 0xff00 && request <= 0xff0a; }

}  // namespace

const Request* find_request(std::uint32_t number) {
  for (const Request& request : kRequests)
    if (request.number == number) return &request;
  return nullptr;
}

const char* beyond_us(std::uint32_t request) {
  for (const BeyondUs& known : kBeyondUs)
    if (known.number == (request & known.mask)) return known.name;
  return nullptr;
}

bool is_of_sockets(std::uint32_t request) { return request >= kFirstSocket && request <= kLastSocket; }

std::uint16_t socket_output(std::uint32_t request) {
  return request >= kFirstOfProtocol && request < kFirstOfDevice ? kProtocolBytes : kIfreqBytes;
}

bool gives_descriptor(std::uint32_t request) {
  for (std::uint32_t known : kNewDescriptors)
    if (known == request) return true;
  return is_namespace_of_pidfd(request);
}

}  // namespace reweave::core
