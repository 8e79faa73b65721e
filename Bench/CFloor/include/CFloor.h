#pragma once
#include <srtp2/srtp.h>
#include <stddef.h>
#include <poll.h>
#include <stdint.h>

/// What forwarding costs at the least: a plain C loop that opens each packet with libsrtp once, and for each subscriber
/// copies it, gives it another header and seals it with OpenSSL. No tables, no history, no checks.
typedef struct floor_loop floor_loop;

/// A subscriber as the loop knows it; numbers follow from those of the first packet.
typedef struct {
  /// SRTP master key and salt (AEAD_AES_128_GCM).
  uint8_t key[16];
  uint8_t salt[12];
  uint32_t ssrc;
  uint8_t payload_type;
  /// What becomes of the publisher's first sequence number and of every timestamp.
  uint16_t first_sequence;
  uint32_t timestamp_offset;
  /// The extension block, already laid out; a multiple of four bytes.
  uint8_t extension[64];
  size_t extension_size;
} floor_subscriber;

/// - publisher: 16 bytes of master key and 12 of salt.
/// - first_sequence: of the publisher's first packet, which the subscribers' first numbers belong to.
/// - outbox: datagrams that fit the output before it begins again.
/// Returns NULL where libsrtp or OpenSSL refuses.
floor_loop *floor_create(const uint8_t publisher[28], uint16_t first_sequence,
                         const floor_subscriber *subscribers, size_t count, size_t outbox);
void floor_destroy(floor_loop *loop);

/// Forwards one datagram, which is opened in place. Returns 0, or -1 at the first failure.
int floor_forward(floor_loop *loop, uint8_t *datagram, size_t size);

/// Datagrams in the output, and each of them; until the next `floor_forward`.
size_t floor_count(const floor_loop *loop);
const uint8_t *floor_datagram(const floor_loop *loop, size_t index, size_t *size);
size_t floor_subscribers(const floor_loop *loop);
/// Begins the output again.
void floor_flush(floor_loop *loop);

/// A libsrtp session under 28 bytes of key and salt (AEAD_AES_128_GCM), to open or to seal any SSRC. libsrtp was started
/// before: it can be once a process.
srtp_t floor_session(const uint8_t keys[28], int seals);

// The same at a socket: what arrives is opened once, sealed for each subscriber, and sent with as few calls as the
// kernel has for it. One thread; it waits in recvmmsg().

/// A stream of a publisher's, under SSRC `floor_first_ssrc` plus its place.
typedef struct {
  floor_loop *loop;
  /// For each of the loop's subscribers, in order, the port on 127.0.0.1 that it listens on: its place in `ports`.
  const uint32_t *destinations;
} floor_stream;

enum { floor_first_ssrc = 0x10000 };

/// Datagrams, calls that sent them, and processor time of the thread in microseconds.
typedef struct {
  uint64_t received, refused, sent, unsent, calls;
  double user, system;
} floor_tally;

typedef struct floor_server floor_server;

/// Binds a port of the system's choice and begins. Loops and destinations stay the caller's and must outlive it; a loop
/// needs room for 64 packets to all of its subscribers. Returns NULL where there is no socket, memory or thread.
floor_server *floor_server_start(const floor_stream *streams, size_t streams_count, const uint16_t *ports,
                                 size_t ports_count);
uint16_t floor_server_port(const floor_server *server);
/// Ends the thread and frees the server.
floor_tally floor_server_stop(floor_server *server);

/// poll() to the nanosecond; returns at once for spans below 1.
int floor_poll(struct pollfd *descriptors, size_t count, int64_t nanoseconds);
