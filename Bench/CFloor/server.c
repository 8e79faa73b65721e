#define _GNU_SOURCE
#include "CFloor.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 64, SLOT = 2048, SEGMENTS = 64, BYTES = 65000, BUFFER = 4 << 20, CALL = 256 };

typedef struct {
  struct sockaddr_in address;
  /// Of one batch, in order; each packet goes to a destination once at most.
  struct iovec packets[BATCH];
  size_t count;
} destination;

typedef struct {
  char bytes[CMSG_SPACE(sizeof(uint16_t))] __attribute__((aligned(8)));
} control;

struct floor_server {
  int socket;
  uint16_t port;
  pthread_t thread;
  _Atomic int stopping;
  const floor_stream *streams;
  size_t streams_count;
  destination *destinations;
  size_t destinations_count;
  /// Those with packets in this batch.
  uint32_t *touched;
  size_t touched_count;
  struct mmsghdr *messages;
  control *controls;
  floor_tally tally;
  struct mmsghdr incoming[BATCH];
  struct iovec vectors[BATCH];
  uint8_t slots[BATCH][SLOT];
};

static inline uint32_t load32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return ntohl(value);
}

/// A received datagram to the loop of its stream.
static void take(floor_server *server, uint8_t *datagram, size_t size) {
  if (size == 0) return;  // Ours, which ends the wait.
  server->tally.received++;
  size_t place = size < 12 ? SIZE_MAX : load32(datagram + 8) - (uint32_t)floor_first_ssrc;
  if (place >= server->streams_count || floor_forward(server->streams[place].loop, datagram, size) != 0)
    server->tally.refused++;
}

/// What the loops wrote, by where it goes.
static void gather(floor_server *server) {
  for (size_t place = 0; place < server->streams_count; place++) {
    const floor_stream *stream = &server->streams[place];
    size_t count = floor_count(stream->loop);
    if (count == 0) continue;
    size_t subscribers = floor_subscribers(stream->loop);
    for (size_t entry = 0; entry < count; entry++) {
      uint32_t number = stream->destinations[entry % subscribers];
      destination *to = &server->destinations[number];
      size_t size;
      const uint8_t *bytes = floor_datagram(stream->loop, entry, &size);
      if (to->count == 0) server->touched[server->touched_count++] = number;
      to->packets[to->count++] = (struct iovec){(void *)bytes, size};
    }
  }
}

/// A message of packets of one size, but for the last, which may be shorter. Returns how many they are.
static size_t write_message(floor_server *server, size_t number, destination *to, size_t first) {
  size_t size = to->packets[first].iov_len, total = 0, count = 0;
  while (first + count < to->count && count < SEGMENTS) {
    size_t next = to->packets[first + count].iov_len;
    if (count > 0 && (next > size || total + next > BYTES)) break;
    total += next;
    count++;
    if (next < size) break;
  }
  struct msghdr *header = &server->messages[number].msg_hdr;
  *header = (struct msghdr){.msg_name = &to->address,
                            .msg_namelen = sizeof to->address,
                            .msg_iov = &to->packets[first],
                            .msg_iovlen = count};
  if (count > 1) {
    header->msg_control = server->controls[number].bytes;
    header->msg_controllen = sizeof server->controls[number].bytes;
    struct cmsghdr *segment = CMSG_FIRSTHDR(header);
    segment->cmsg_level = IPPROTO_UDP;
    segment->cmsg_type = UDP_SEGMENT;
    segment->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    *(uint16_t *)CMSG_DATA(segment) = (uint16_t)size;
  }
  return count;
}

static void submit(floor_server *server, size_t count) {
  for (size_t start = 0; start < count;) {
    int sent = sendmmsg(server->socket, server->messages + start, (unsigned)(count - start), 0);
    server->tally.calls++;
    if (sent < 0 && errno == EINTR) continue;
    size_t end = start + (size_t)(sent > 0 ? sent : 1);
    for (; start < end; start++) {
      uint64_t datagrams = server->messages[start].msg_hdr.msg_iovlen;
      if (sent > 0)
        server->tally.sent += datagrams;
      else
        server->tally.unsent += datagrams;
    }
  }
}

static void send_all(floor_server *server) {
  size_t messages = 0;
  for (size_t index = 0; index < server->touched_count; index++) {
    destination *to = &server->destinations[server->touched[index]];
    for (size_t first = 0; first < to->count;) {
      first += write_message(server, messages++, to, first);
      if (messages < CALL) continue;
      submit(server, messages);
      messages = 0;
    }
  }
  submit(server, messages);
  for (size_t index = 0; index < server->touched_count; index++)
    server->destinations[server->touched[index]].count = 0;
  server->touched_count = 0;
  for (size_t place = 0; place < server->streams_count; place++) floor_flush(server->streams[place].loop);
}

static double microseconds(struct timeval time) { return (double)time.tv_sec * 1e6 + (double)time.tv_usec; }

static void *serve(void *argument) {
  floor_server *server = argument;
  struct rusage before, after;
  getrusage(RUSAGE_THREAD, &before);
  while (!atomic_load(&server->stopping)) {
    int count = recvmmsg(server->socket, server->incoming, BATCH, MSG_WAITFORONE, NULL);
    for (int index = 0; index < count; index++)
      take(server, server->slots[index], server->incoming[index].msg_len);
    gather(server);
    send_all(server);
  }
  getrusage(RUSAGE_THREAD, &after);
  server->tally.user = microseconds(after.ru_utime) - microseconds(before.ru_utime);
  server->tally.system = microseconds(after.ru_stime) - microseconds(before.ru_stime);
  return NULL;
}

static int open_socket(floor_server *server) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int size = BUFFER;
  server->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (server->socket < 0) return 0;
  // Beyond the system's limit where we may, as the server does.
  if (setsockopt(server->socket, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
    setsockopt(server->socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  if (setsockopt(server->socket, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
    setsockopt(server->socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  if (bind(server->socket, (struct sockaddr *)&address, sizeof address) != 0 ||
      getsockname(server->socket, (struct sockaddr *)&address, &length) != 0)
    return 0;
  server->port = ntohs(address.sin_port);
  return 1;
}

static void release(floor_server *server) {
  if (server->socket >= 0) close(server->socket);
  free(server->destinations);
  free(server->touched);
  free(server->messages);
  free(server->controls);
  free(server);
}

floor_server *floor_server_start(const floor_stream *streams, size_t streams_count, const uint16_t *ports,
                                 size_t ports_count) {
  floor_server *server = calloc(1, sizeof *server);
  if (!server) return NULL;
  server->socket = -1;
  server->streams = streams;
  server->streams_count = streams_count;
  server->destinations_count = ports_count;
  server->destinations = calloc(ports_count, sizeof *server->destinations);
  server->touched = calloc(ports_count, sizeof *server->touched);
  server->messages = calloc(CALL, sizeof *server->messages);
  server->controls = calloc(CALL, sizeof *server->controls);
  if (!server->destinations || !server->touched || !server->messages || !server->controls || !open_socket(server)) {
    release(server);
    return NULL;
  }
  for (size_t index = 0; index < ports_count; index++)
    server->destinations[index].address = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(ports[index]), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (size_t index = 0; index < BATCH; index++) {
    server->vectors[index] = (struct iovec){server->slots[index], SLOT};
    server->incoming[index].msg_hdr.msg_iov = &server->vectors[index];
    server->incoming[index].msg_hdr.msg_iovlen = 1;
  }
  if (pthread_create(&server->thread, NULL, serve, server) != 0) {
    release(server);
    return NULL;
  }
  return server;
}

uint16_t floor_server_port(const floor_server *server) { return server->port; }

floor_tally floor_server_stop(floor_server *server) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(server->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  atomic_store(&server->stopping, 1);
  // Ends its wait, if it still waits.
  sendto(server->socket, "", 0, 0, (struct sockaddr *)&address, sizeof address);
  pthread_join(server->thread, NULL);
  floor_tally tally = server->tally;
  release(server);
  return tally;
}

int floor_poll(struct pollfd *descriptors, size_t count, int64_t nanoseconds) {
  if (nanoseconds < 0) nanoseconds = 0;
  struct timespec span = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  return ppoll(descriptors, count, &span, NULL);
}
