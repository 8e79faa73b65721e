#pragma once
// libvpx begins and controls codecs through macros and variadics, which Swift cannot call. No logic lives here.
#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

static inline vpx_codec_err_t rv_begin_encoder(vpx_codec_ctx_t *context, const vpx_codec_enc_cfg_t *configuration) {
  return vpx_codec_enc_init(context, vpx_codec_vp8_cx(), configuration, 0);
}
static inline vpx_codec_err_t rv_begin_decoder(vpx_codec_ctx_t *context, const vpx_codec_dec_cfg_t *configuration) {
  return vpx_codec_dec_init(context, vpx_codec_vp8_dx(), configuration, 0);
}
static inline vpx_codec_err_t rv_set_speed(vpx_codec_ctx_t *context, int speed) {
  return vpx_codec_control(context, VP8E_SET_CPUUSED, speed);
}
static inline vpx_codec_err_t rv_get_corrupted(vpx_codec_ctx_t *context, int *corrupted) {
  return vpx_codec_control(context, VP8D_GET_FRAME_CORRUPTED, corrupted);
}

// A packet of the encoder's output is a union.
static inline const void *rv_frame_bytes(const vpx_codec_cx_pkt_t *packet) { return packet->data.frame.buf; }
static inline size_t rv_frame_size(const vpx_codec_cx_pkt_t *packet) { return packet->data.frame.sz; }
static inline int rv_frame_is_key(const vpx_codec_cx_pkt_t *packet) {
  return (packet->data.frame.flags & VPX_FRAME_IS_KEY) != 0;
}
