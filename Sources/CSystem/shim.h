#pragma once
// What Swift cannot import from the system headers: macros, variadics and what _GNU_SOURCE hides.
// No logic lives here.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_tun.h>
#include <malloc.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

/// One message of a batch, laid out as the kernel's struct mmsghdr.
struct rs_mmsghdr {
  struct msghdr header;
  unsigned int length;
};

/// The kernel's struct in6_pktinfo, which glibc hides without _GNU_SOURCE.
struct rs_in6_pktinfo {
  struct in6_addr address;
  unsigned int interface;
};

/// The kernel's struct in_pktinfo.
struct rs_in_pktinfo {
  unsigned int interface;
  struct in_addr specific_destination;
  struct in_addr address;
};

extern int rs_recvmmsg(int fd, struct rs_mmsghdr *messages, unsigned int count, int flags,
                       struct timespec *timeout) __asm__("recvmmsg");
extern int rs_sendmmsg(int fd, struct rs_mmsghdr *messages, unsigned int count, int flags)
    __asm__("sendmmsg");
extern int rs_setaffinity(pthread_t thread, size_t size, const void *set) __asm__("pthread_setaffinity_np");
extern int rs_getaffinity(pthread_t thread, size_t size, void *set) __asm__("pthread_getaffinity_np");
/// Without signals: `mask` is NULL.
extern int rs_ppoll(struct pollfd *set, unsigned long count, const struct timespec *time, const void *mask) __asm__("ppoll");
/// Waits until the moment of a clock; without a result of the thread's.
extern int rs_clockjoin(pthread_t thread, void **result, clockid_t clock, const struct timespec *moment)
    __asm__("pthread_clockjoin_np");
extern int rs_setname(pthread_t thread, const char *name) __asm__("pthread_setname_np");
/// Of the calling thread: on Linux niceness is each thread's own. `who` 0 is the caller, `which` 0 a thread.
extern int rs_getniceness(int which, unsigned int who) __asm__("getpriority");
extern int rs_setniceness(int which, unsigned int who, int niceness) __asm__("setpriority");

enum {
  RS_UDP_SEGMENT = 103,
  RS_IP_PKTINFO = 8,
  RS_IPV6_RECVPKTINFO = 49,
  RS_IPV6_PKTINFO = 50,
  RS_IPV6_V6ONLY = 26,
  RS_IP_MTU_DISCOVER = 10,
  RS_SO_REUSEPORT = 15,
  RS_SO_TIMESTAMPNS = 35,
  RS_SO_RCVBUFFORCE = 33,
  RS_SO_SNDBUFFORCE = 32,
};

static inline struct cmsghdr *rs_cmsg_first(const struct msghdr *message) { return CMSG_FIRSTHDR(message); }
static inline struct cmsghdr *rs_cmsg_next(struct msghdr *message, struct cmsghdr *current) {
  return CMSG_NXTHDR(message, current);
}
static inline void *rs_cmsg_data(struct cmsghdr *current) { return CMSG_DATA(current); }
static inline size_t rs_cmsg_space(size_t size) { return CMSG_SPACE(size); }
static inline size_t rs_cmsg_length(size_t size) { return CMSG_LEN(size); }

/// Makes a TUN device of that name in the caller's network namespace, for packets without a header before them. -1 with errno.
static inline int rs_tun_attach(int fd, const char *name) {
  struct ifreq request;
  memset(&request, 0, sizeof request);
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  return ioctl(fd, TUNSETIFF, &request);
}
