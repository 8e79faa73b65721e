#include "CFloor.h"
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 16, FIXED_HEADER = 12, SLOT = 1600 };

typedef struct {
  floor_subscriber known;
  EVP_CIPHER_CTX *context;
  /// The session salt as two numbers: bytes 0–7 and 8–11.
  uint64_t salt_high;
  uint32_t salt_low;
  OSSL_PARAM tag[2];
} subscriber;

typedef struct {
  size_t offset, size;
} entry;

struct floor_loop {
  srtp_t publisher;
  uint16_t first_sequence;
  uint64_t highest;
  subscriber *subscribers;
  size_t count;
  uint8_t *outbox;
  entry *entries;
  size_t capacity, used, filled;
};

srtp_t floor_session(const uint8_t keys[28], int seals) {
  srtp_t session = NULL;
  srtp_policy_t policy;
  unsigned char secret[28];
  memset(&policy, 0, sizeof policy);
  memcpy(secret, keys, sizeof secret);
  srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, srtp_profile_aead_aes_128_gcm);
  srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, srtp_profile_aead_aes_128_gcm);
  policy.ssrc.type = seals ? ssrc_any_outbound : ssrc_any_inbound;
  policy.window_size = 1024;
  policy.key = secret;
  return srtp_create(&session, &policy) == srtp_err_status_ok ? session : NULL;
}

/// RFC 3711 §4.3, with a key derivation rate of zero.
static int derive(const floor_subscriber *from, uint8_t label, uint8_t *key, int size) {
  uint8_t counter[16] = {0};
  int written = 0;
  memcpy(counter, from->salt, 12);
  counter[7] ^= label;
  memset(key, 0, (size_t)size);
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int done = context && EVP_EncryptInit_ex2(context, EVP_aes_128_ctr(), from->key, counter, NULL) == 1 &&
             EVP_EncryptUpdate(context, key, &written, key, size) == 1;
  EVP_CIPHER_CTX_free(context);
  return done;
}

static inline uint16_t load16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }
static inline uint32_t load32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return __builtin_bswap32(value);
}
static inline uint64_t load64(const uint8_t *at) { return (uint64_t)load32(at) << 32 | load32(at + 4); }
static inline void store16(uint8_t *at, uint16_t value) {
  value = __builtin_bswap16(value);
  memcpy(at, &value, 2);
}
static inline void store32(uint8_t *at, uint32_t value) {
  value = __builtin_bswap32(value);
  memcpy(at, &value, 4);
}
static inline void store64(uint8_t *at, uint64_t value) {
  value = __builtin_bswap64(value);
  memcpy(at, &value, 8);
}

static int prepare(subscriber *to, const floor_subscriber *from) {
  uint8_t key[16], salt[12];
  EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-128-GCM", NULL);
  to->known = *from;
  to->context = EVP_CIPHER_CTX_new();
  // Where the tag goes is set for each packet.
  to->tag[0] = OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, TAG);
  to->tag[1] = OSSL_PARAM_construct_end();
  int done = cipher && to->context && derive(from, 0, key, 16) && derive(from, 2, salt, 12) &&
             EVP_EncryptInit_ex2(to->context, cipher, key, NULL, NULL) == 1;
  to->salt_high = load64(salt);
  to->salt_low = load32(salt + 8);
  EVP_CIPHER_free(cipher);
  return done;
}

floor_loop *floor_create(const uint8_t publisher[28], uint16_t first_sequence,
                         const floor_subscriber *subscribers, size_t count, size_t outbox) {
  floor_loop *loop = calloc(1, sizeof *loop);
  loop->publisher = floor_session(publisher, 0);
  loop->first_sequence = first_sequence;
  loop->highest = first_sequence;
  loop->count = count;
  loop->subscribers = calloc(count, sizeof *loop->subscribers);
  loop->capacity = outbox;
  loop->outbox = malloc(outbox * SLOT);
  loop->entries = calloc(outbox, sizeof *loop->entries);
  int done = loop->publisher != NULL;
  for (size_t index = 0; done && index < count; index++)
    done = prepare(&loop->subscribers[index], &subscribers[index]);
  if (done) return loop;
  floor_destroy(loop);
  return NULL;
}

void floor_destroy(floor_loop *loop) {
  if (!loop) return;
  if (loop->publisher) srtp_dealloc(loop->publisher);
  for (size_t index = 0; index < loop->count; index++) EVP_CIPHER_CTX_free(loop->subscribers[index].context);
  free(loop->subscribers);
  free(loop->outbox);
  free(loop->entries);
  free(loop);
}

/// RFC 7714, with the calls that Roost's sealer makes.
static int seal(subscriber *to, uint8_t *packet, size_t header, size_t payload, uint64_t index) {
  uint8_t iv[12];
  int written = 0;
  store64(iv, to->salt_high ^ ((uint64_t)to->known.ssrc << 16 | index >> 32));
  store32(iv + 8, to->salt_low ^ (uint32_t)index);
  uint8_t *text = packet + header;
  to->tag[0].data = text + payload;
  return EVP_EncryptInit_ex2(to->context, NULL, NULL, iv, NULL) == 1 &&
         EVP_EncryptUpdate(to->context, NULL, &written, packet, (int)header) == 1 &&
         EVP_EncryptUpdate(to->context, text, &written, text, (int)payload) == 1 &&
         EVP_EncryptFinal_ex(to->context, text + payload, &written) == 1 &&
         EVP_CIPHER_CTX_get_params(to->context, to->tag) == 1;
}

int floor_forward(floor_loop *loop, uint8_t *datagram, size_t size) {
  int opened = (int)size;
  if (srtp_unprotect(loop->publisher, datagram, &opened) != srtp_err_status_ok) return -1;
  size_t header = FIXED_HEADER + 4 * (size_t)(datagram[0] & 15);
  if (datagram[0] & 0x10) header += 4 + 4 * (size_t)load16(datagram + header + 2);
  size_t payload = (size_t)opened - header;
  uint32_t timestamp = load32(datagram + 4);
  uint64_t sequence = loop->highest + (uint64_t)(int16_t)(load16(datagram + 2) - (uint16_t)loop->highest);
  if (sequence > loop->highest) loop->highest = sequence;
  uint64_t distance = sequence - loop->first_sequence;

  for (size_t index = 0; index < loop->count; index++) {
    subscriber *to = &loop->subscribers[index];
    if (loop->filled == loop->capacity) floor_flush(loop);
    uint8_t *packet = loop->outbox + loop->used;
    uint64_t outgoing = to->known.first_sequence + distance;
    packet[0] = to->known.extension_size ? 0x90 : 0x80;
    packet[1] = (uint8_t)((datagram[1] & 0x80) | to->known.payload_type);
    store16(packet + 2, (uint16_t)outgoing);
    store32(packet + 4, timestamp + to->known.timestamp_offset);
    store32(packet + 8, to->known.ssrc);
    memcpy(packet + FIXED_HEADER, to->known.extension, to->known.extension_size);
    size_t written = FIXED_HEADER + to->known.extension_size;
    memcpy(packet + written, datagram + header, payload);
    if (!seal(to, packet, written, payload, outgoing)) return -1;
    size_t total = written + payload + TAG;
    loop->entries[loop->filled++] = (entry){loop->used, total};
    loop->used += (total + 7) & ~(size_t)7;
  }
  return 0;
}

size_t floor_subscribers(const floor_loop *loop) { return loop->count; }

size_t floor_count(const floor_loop *loop) { return loop->filled; }

const uint8_t *floor_datagram(const floor_loop *loop, size_t index, size_t *size) {
  *size = loop->entries[index].size;
  return loop->outbox + loop->entries[index].offset;
}

void floor_flush(floor_loop *loop) {
  loop->filled = 0;
  loop->used = 0;
}
