/* Socket requests and options that answer in memory to which their argument points: bridges, devices, address lists,
   ARP, packet filters. They run in a network namespace of the program's own. */
#define _GNU_SOURCE
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* After the C library's headers, whose definitions these do not repeat. */
#include <linux/ethtool.h>
#include <linux/if_bridge.h>
#include <linux/if_tun.h>
#include <linux/if_vlan.h>
#include <linux/net_tstamp.h>
#include <linux/netfilter_arp/arp_tables.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netfilter_ipv6/ip6_tables.h>
#include <linux/sockios.h>

#include "check.h"

static int plain;

/* Makes `request` about the interface `name`, with ifr_data `data`. */
static int about(const char* name, unsigned long request, void* data) {
  struct ifreq interface = {0};
  snprintf(interface.ifr_name, IFNAMSIZ, "%s", name);
  interface.ifr_data = data;
  return ioctl(plain, request, &interface);
}

static void result(const char* what, int value) {
  printf("%s: %d%s%s\n", what, value, value < 0 ? ", " : "", value < 0 ? strerror(errno) : "");
}

static void up(const char* name) {
  struct ifreq interface = {0};
  snprintf(interface.ifr_name, IFNAMSIZ, "%s", name);
  interface.ifr_flags = IFF_UP | IFF_RUNNING;
  result("up", ioctl(plain, SIOCSIFFLAGS, &interface));
}

static int bridge_command(const char* name, unsigned long command, void* buffer, unsigned long count) {
  unsigned long words[4] = {command, (unsigned long)buffer, count, 0};
  return about(name, SIOCDEVPRIVATE, words);
}

static void bridges(void) {
  static int list[8], ports[300];
  struct __bridge_info bridge;
  struct __port_info port;
  static struct __fdb_entry entries[16];
  char name[IFNAMSIZ] = "br_first";
  if (ioctl(plain, SIOCBRADDBR, name) != 0) { /* a kernel without bridges */
    result("no bridges", -1);
    return;
  }
  CHECK(ioctl(plain, SIOCBRADDBR, "br_second") == 0);
  unsigned long words[3] = {BRCTL_GET_BRIDGES, (unsigned long)list, 8};
  result("bridges", ioctl(plain, SIOCGIFBR, words));
  printf("first and second: %d\n", (list[0] != 0) + (list[1] != 0) + (list[2] != 0));
  words[0] = BRCTL_GET_VERSION;
  result("version", ioctl(plain, SIOCGIFBR, words));
  const int tun = open("/dev/net/tun", O_RDWR);
  struct ifreq tap = {.ifr_name = "tap_port", .ifr_flags = IFF_TAP | IFF_NO_PI};
  if (tun >= 0 && ioctl(tun, TUNSETIFF, &tap) == 0) {
    up("tap_port");
    struct ifreq member = {.ifr_name = "br_first"};
    member.ifr_ifindex = (int)if_nametoindex("tap_port");
    result("member", ioctl(plain, SIOCBRADDIF, &member));
    up("br_first");
  }
  memset(&bridge, 0xee, sizeof bridge);
  result("info", bridge_command("br_first", BRCTL_GET_BRIDGE_INFO, &bridge, 0));
  printf("priority %llx, ageing %u, stp %d, last byte %x\n", (unsigned long long)bridge.bridge_id & 0xffff,
         bridge.ageing_time, bridge.stp_enabled, ((unsigned char*)&bridge)[sizeof bridge - 1]);
  memset(ports, 0xee, sizeof ports);
  result("ports", bridge_command("br_first", BRCTL_GET_PORT_LIST, ports, 0));
  printf("port 0: %d, 1: %d, 255: %d, 256: %x\n", ports[0], ports[1] != 0, ports[255], ports[256]);
  memset(&port, 0xee, sizeof port);
  result("port", bridge_command("br_first", BRCTL_GET_PORT_INFO, &port, 1));
  printf("cost %u, state %u, last timer %u\n", port.path_cost, port.state, port.message_age_timer_value);
  memset(entries, 0xee, sizeof entries);
  const int found = bridge_command("br_first", BRCTL_GET_FDB_ENTRIES, entries, 16);
  result("addresses", found > 0 ? 1 : found);
  for (int i = 0; i < found; i++) printf("%d: %x %d\n", i, entries[i].mac_addr[0] != 0xee, entries[i].is_local);
  result("removed", ioctl(plain, SIOCBRDELBR, "br_second"));
}

static void devices(void) {
  struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
  result("driver", about("br_first", SIOCETHTOOL, &driver));
  printf("%.32s, %u statistics\n", driver.driver, driver.n_stats);
  struct {
    struct ethtool_sset_info head;
    uint32_t count[4];
  } sets = {.head = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_FEATURES}};
  result("sets", about("lo", SIOCETHTOOL, &sets));
  const uint32_t count = sets.count[0];
  CHECK(count < 1000);
  struct ethtool_gstrings* names = calloc(1, sizeof *names + (size_t)count * ETH_GSTRING_LEN);
  *names = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = count};
  result("strings", about("lo", SIOCETHTOOL, names));
  if (count > 0) printf("%s to %s\n", (char*)names->data, (char*)names->data + (count - 1) * ETH_GSTRING_LEN);
  struct ethtool_gfeatures* features = calloc(1, sizeof *features + 4 * sizeof features->features[0]);
  *features = (struct ethtool_gfeatures){.cmd = ETHTOOL_GFEATURES, .size = 4};
  result("features", about("lo", SIOCETHTOOL, features));
  printf("%x %x\n", features->features[0].available, features->features[1].active);
  union {
    struct ethtool_link_settings head;
    char room[sizeof(struct ethtool_link_settings) + 3 * 127 * 4];
  } link = {.head = {.cmd = ETHTOOL_GLINKSETTINGS}};
  result("link", about("br_first", SIOCETHTOOL, &link));
  printf("%u, %d\n", link.head.speed, link.head.link_mode_masks_nwords);
  struct ethtool_ts_info times = {.cmd = ETHTOOL_GET_TS_INFO};
  result("times", about("lo", SIOCETHTOOL, &times));
  printf("%x\n", times.so_timestamping);
  struct hwtstamp_config stamps = {.flags = 0};
  result("stamps", about("lo", SIOCGHWTSTAMP, &stamps));
  free(names);
  free(features);
}

static void addresses(void) {
  up("lo");
  struct ifreq list[8];
  memset(list, 0xee, sizeof list);
  struct ifconf all = {.ifc_len = sizeof list, .ifc_req = list};
  result("list", ioctl(plain, SIOCGIFCONF, &all));
  printf("%d bytes, %s\n", all.ifc_len, all.ifc_len > 0 ? list[0].ifr_name : "none");
  all = (struct ifconf){.ifc_len = 0};
  result("length", ioctl(plain, SIOCGIFCONF, &all));
  struct arpreq arp = {.arp_flags = ATF_PERM | ATF_COM};
  ((struct sockaddr_in*)(void*)&arp.arp_pa)->sin_family = AF_INET;
  ((struct sockaddr_in*)(void*)&arp.arp_pa)->sin_addr.s_addr = htonl(0x7f000099);
  arp.arp_ha.sa_family = ARPHRD_ETHER;
  memset(arp.arp_ha.sa_data, 7, 6);
  snprintf(arp.arp_dev, sizeof arp.arp_dev, "br_first");
  struct ifreq own = {.ifr_name = "br_first"};
  ((struct sockaddr_in*)(void*)&own.ifr_addr)->sin_family = AF_INET;
  ((struct sockaddr_in*)(void*)&own.ifr_addr)->sin_addr.s_addr = htonl(0x0a000001);
  result("address", ioctl(plain, SIOCSIFADDR, &own));
  ((struct sockaddr_in*)(void*)&arp.arp_pa)->sin_addr.s_addr = htonl(0x0a000002);
  result("set", ioctl(plain, SIOCSARP, &arp));
  memset(arp.arp_ha.sa_data, 0, 6);
  result("arp", ioctl(plain, SIOCGARP, &arp));
  printf("%d on %s\n", arp.arp_ha.sa_data[0], arp.arp_dev);
  struct vlan_ioctl_args vlan = {.cmd = GET_VLAN_REALDEV_NAME_CMD, .device1 = "br_first"};
  result("vlan", ioctl(plain, SIOCGIFVLAN, &vlan));
  char words[4][64] = {"own"};
  result("of its own", about("lo", SIOCDEVPRIVATE + 1, words));
}

/* Replaces a table by itself: the kernel reports how often each rule of the old one matched. */
static void filter(int domain, int level, int info_name, int entries_name, int replace_name) {
  const int raw = socket(domain, SOCK_RAW, IPPROTO_RAW);
  if (raw < 0) return;
  struct ipt_getinfo info = {.name = "filter"}; /* other families' structs have this size, except ARP's */
  socklen_t length = level == IPPROTO_IP && info_name == ARPT_SO_GET_INFO ? sizeof(struct arpt_getinfo) : sizeof info;
  const int known = getsockopt(raw, level, info_name, &info, &length);
  result("filter", known);
  if (known != 0) {
    close(raw);
    return;
  }
  const int arp = info_name == ARPT_SO_GET_INFO;
  struct arpt_getinfo of_arp;
  memcpy(&of_arp, &info, sizeof of_arp);
  const unsigned size = arp ? of_arp.size : info.size, count = arp ? of_arp.num_entries : info.num_entries;
  printf("%u entries, %u bytes\n", count, size);
  length = (socklen_t)(sizeof(struct ipt_get_entries) + size);
  struct ipt_get_entries* entries = calloc(1, length);
  memcpy(entries->name, "filter", 7);
  entries->size = size;
  result("entries", getsockopt(raw, level, entries_name, entries, &length));
  struct xt_counters* counters = malloc(count * sizeof *counters);
  memset(counters, 0xee, count * sizeof *counters);
  const size_t head = arp ? sizeof(struct arpt_replace) : sizeof(struct ipt_replace);
  char* replacement = calloc(1, head + size);
  if (arp) {
    struct arpt_replace* to = (void*)replacement;
    memcpy(to->name, "filter", 7);
    to->valid_hooks = of_arp.valid_hooks, to->num_entries = count, to->size = size;
    memcpy(to->hook_entry, of_arp.hook_entry, sizeof to->hook_entry);
    memcpy(to->underflow, of_arp.underflow, sizeof to->underflow);
    to->num_counters = count, to->counters = counters;
  } else {
    struct ipt_replace* to = (void*)replacement;
    memcpy(to->name, "filter", 7);
    to->valid_hooks = info.valid_hooks, to->num_entries = count, to->size = size;
    memcpy(to->hook_entry, info.hook_entry, sizeof to->hook_entry);
    memcpy(to->underflow, info.underflow, sizeof to->underflow);
    to->num_counters = count, to->counters = counters;
  }
  memcpy(replacement + head, entries->entrytable, size);
  result("replaced", setsockopt(raw, level, replace_name, replacement, (socklen_t)(head + size)));
  for (unsigned i = 0; i < count; i++)
    printf("%llu %llu\n", (unsigned long long)counters[i].pcnt, (unsigned long long)counters[i].bcnt);
  free(replacement);
  free(counters);
  free(entries);
  close(raw);
}

static void options(void) {
  const int tcp = socket(AF_INET, SOCK_STREAM, 0);
  struct tcp_info info;
  socklen_t length = sizeof info;
  result("tcp", getsockopt(tcp, IPPROTO_TCP, TCP_INFO, &info, &length));
  printf("state %d\n", info.tcpi_state);
  int fd = ioctl(plain, 0x894c /* SIOCGSKNS */);
  result("namespace", fd > 0 ? 1 : fd);
  close(fd);
  close(tcp);
}

int main(void) {
  if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) { /* not allowed here */
    result("no network of its own", -1);
    return 0;
  }
  plain = socket(AF_INET, SOCK_DGRAM, 0);
  bridges();
  devices();
  addresses();
  filter(AF_INET, IPPROTO_IP, IPT_SO_GET_INFO, IPT_SO_GET_ENTRIES, IPT_SO_SET_REPLACE);
  filter(AF_INET6, IPPROTO_IPV6, IP6T_SO_GET_INFO, IP6T_SO_GET_ENTRIES, IP6T_SO_SET_REPLACE);
  filter(AF_INET, IPPROTO_IP, ARPT_SO_GET_INFO, ARPT_SO_GET_ENTRIES, ARPT_SO_SET_REPLACE);
  options();
  return 0;
}
