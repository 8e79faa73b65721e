#pragma once
// libopus sets everything through variadics, which Swift cannot call. No logic lives here.
#include <opus/opus.h>

static inline int ro_set_bitrate(OpusEncoder *encoder, opus_int32 rate) {
  return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(rate));
}
