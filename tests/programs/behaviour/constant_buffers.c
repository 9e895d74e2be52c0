/* Failing calls with read-only output buffers: nothing is written there, and nothing else changes. */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <sys/socket.h>

#include "check.h"

int main(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  char* constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0), file = open("/dev/null", O_RDONLY);
  socklen_t length = 4;
  CHECK(constant != MAP_FAILED && socket_fd >= 0 && file >= 0);
  FAILS(mincore(constant + 1, 4096, (unsigned char*)constant), EINVAL);
  FAILS(getsockopt(file, SOL_SOCKET, SO_TYPE, constant, &length), ENOTSOCK);
  FAILS(getsockopt(socket_fd, SOL_SOCKET, SO_TYPE, constant, &length), EFAULT);
  FAILS(syscall(SYS_capget, &header, constant), EFAULT);
  header.pid = -1;
  FAILS(syscall(SYS_capget, &header, constant), EINVAL);
  for (int i = 0; i < 4096; i++) CHECK(constant[i] == 0);
  puts("constant");
  return 0;
}
