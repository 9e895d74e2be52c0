/* Calls that return or tell more than they write, into buffers that end where memory ends; a buffer for which not all
 * of a size counts; and more buffers than there are in most calls. */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "check.h"

enum { MESSAGES = 500, KEPT = 32 };

/* Returns the last bytes before unmapped memory. */
static void* last_bytes(size_t bytes) {
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
  return memset(pages + 4096 - bytes, 0, bytes);
}

static int bound_socket(struct sockaddr_un* name, socklen_t* bytes) {
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  *bytes = (socklen_t)(sizeof name->sun_family + 1 +
                       (size_t)snprintf(name->sun_path + 1, 60, "reweave-buffer-ends-of-%d", getpid()));
  name->sun_family = AF_UNIX;
  name->sun_path[0] = 0;
  CHECK(fd >= 0 && bind(fd, (struct sockaddr*)name, *bytes) == 0);
  return fd;
}

static void messages(void) {
  struct sockaddr_un name;
  socklen_t bytes;
  int fd = bound_socket(&name, &bytes);
  const struct sockaddr* to = (struct sockaddr*)&name;
  char* byte = last_bytes(1);
  for (int i = 0; i < 3; i++) CHECK(sendto(fd, "abc", 3, 0, to, bytes) == 3);
  CHECK(recv(fd, byte, 1, MSG_TRUNC) == 3 && *byte == 'a');
  struct iovec part = {byte, 1};
  struct msghdr message = {.msg_name = last_bytes(5), .msg_namelen = 5, .msg_iov = &part, .msg_iovlen = 1};
  CHECK(recvmsg(fd, &message, 0) == 1 && message.msg_namelen == bytes);
  printf("name %.2s, of %s\n", (char*)message.msg_name + 3, message.msg_namelen == bytes ? "its length" : "another");
  struct sockaddr* from = last_bytes(4);
  bytes = 4;
  CHECK(recvfrom(fd, byte, 1, MSG_TRUNC, from, &bytes) == 3 && from->sa_family == AF_UNIX);
  close(fd);
}

static void many_messages(void) {
  static struct mmsghdr all[MESSAGES];
  static struct iovec parts[MESSAGES][2];
  static char room[MESSAGES][KEPT];
  int ends[2], total = 0, got = 0;
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  for (int i = 0; i < MESSAGES; i++) {
    parts[i][0] = (struct iovec){room[i], 2};
    parts[i][1] = (struct iovec){room[i] + 2, KEPT - 2};
    all[i].msg_hdr = (struct msghdr){.msg_iov = parts[i], .msg_iovlen = 2};
  }
  while (got < MESSAGES) {
    int sent = 0;
    while (got + sent < MESSAGES && send(ends[1], "a message", 9, MSG_DONTWAIT) == 9) sent++;
    while (sent > 0) {
      int now = recvmmsg(ends[0], all + got, (unsigned)sent, 0, NULL);
      CHECK(now > 0);
      got += now, sent -= now;
    }
  }
  for (int i = 0; i < MESSAGES; i++) total += (int)all[i].msg_len + (strcmp(room[i], "a message") == 0);
  printf("%d messages, %d\n", got, total);
}

static void options(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
  socklen_t bytes = 5;
  if (fd < 0 || getsockopt(fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, last_bytes(4), &bytes) != 0) return;
  CHECK(bytes % 4 == 0);
  int told = (int)bytes;
  bytes = 0;
  CHECK(getsockopt(fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, NULL, &bytes) == 0 && (int)bytes == told);
  bytes = 3;
  FAILS(getsockopt(fd, SOL_SOCKET, SO_TYPE, (void*)8, &bytes), EFAULT);
  close(fd);
}

static void sizes(void) {
  FAILS(syscall(SYS_getgroups, -1, NULL), EINVAL);
  CHECK(syscall(SYS_getgroups, 0, (void*)8) == getgroups(0, NULL));
  CHECK(syscall(SYS_listxattr, "/", (void*)8, 0ul) >= 0 || errno == EOPNOTSUPP);
  unsigned* attributes = last_bytes(4);
  *attributes = 8000;
  FAILS(syscall(SYS_sched_setattr, 0, attributes, 0), E2BIG);
  CHECK(*attributes >= 48 && *attributes < 8000); /* the size that the kernel expects */
}

static void requests(void) {
  int fd = open("/proc/self/ns/user", O_RDONLY), folder = open("/tmp", O_RDONLY);
  unsigned* owner = last_bytes(4);
  *owner = 12345;
  if (fd >= 0 && ioctl(fd, NS_GET_OWNER_UID, owner) == 0) printf("owner %u\n", *owner);
  int* flags = last_bytes(4);
  CHECK(folder >= 0 && (ioctl(folder, FS_IOC_GETFLAGS, flags) == 0 || errno == ENOTTY || errno == EOPNOTSUPP));
}

/* The kernel looks at no more of a set than there can be descriptors. */
static void sets(void) {
  fd_set* set = last_bytes(sizeof *set);
  struct timeval soon = {0, 1};
  FD_SET(0, set);
  CHECK(select(FD_SETSIZE + 60, NULL, NULL, set, &soon) == 0 && !FD_ISSET(0, set));
  FAILS(syscall(SYS_select, -1, NULL, set, NULL, NULL), EINVAL);
  static const struct timespec constant = {0, 1};
  CHECK(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &constant, NULL) == 0);
  CHECK(syscall(SYS_ppoll, NULL, 0, &constant, NULL, 8ul) == 0);
}

int main(void) {
  messages();
  many_messages();
  options();
  sizes();
  requests();
  sets();
  puts("no further");
  return 0;
}
