package import Model

/// A picture of VP8 or 20 ms of Opus, as an encoder gave it.
package struct EncodedFrame: Equatable, Sendable {
  package var kind: MediaKind
  package var bytes: [UInt8]
  package var capturedAt: Instant
  /// Of sound: how loud it is, in −dBov, 0–127 (RFC 6464 §3).
  package var attenuation: UInt8

  package init(_ kind: MediaKind, _ bytes: [UInt8], capturedAt: Instant, attenuation: UInt8 = 127) {
    self.kind = kind
    self.bytes = bytes
    self.capturedAt = capturedAt
    self.attenuation = attenuation
  }
}

/// What a far end publishes and receives that carries no stamp: media of real encoders, for real decoders.
package struct EncodedMedia {
  var sources: [EncodedSource] = []
  /// Called with each packet that was opened, once, whatever is in it.
  package var onPayload: (EncodedPayload) -> Void = { _ in }
  /// Called where the server asks for a key frame of a picture that is published.
  package var onKeyFrameRequest: () -> Void = {}
}

/// What one packet of a slot brought.
package struct EncodedPayload {
  /// The place of its stream in `SyntheticPeer.streams`.
  package var stream: Int
  package var codec: Codec
  /// Unrolled: later packets of the stream have higher ones.
  package var sequence: Int64
  package var timestamp: UInt32
  package var marker: Bool
  package var viaRTX: Bool
  package var bytes: [UInt8]
  /// When its datagram came.
  package var at: Instant

  package init(
    stream: Int, codec: Codec, sequence: Int64, timestamp: UInt32, marker: Bool, viaRTX: Bool = false,
    bytes: [UInt8], at: Instant
  ) {
    self.stream = stream
    self.codec = codec
    self.sequence = sequence
    self.timestamp = timestamp
    self.marker = marker
    self.viaRTX = viaRTX
    self.bytes = bytes
    self.at = at
  }
}
