/// Names a peer inside this process. The upper byte is its home worker: the one that holds its credentials and
/// knows which worker has adopted it. Never reused, never shown to the outside.
public struct PeerKey: BitwiseCopyable, Hashable, Sendable {
  public var rawValue: UInt64

  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// - Parameters:
  ///   - home: 0–255.
  ///   - serial: below 2^56; counts up and never comes back.
  @inlinable public init(home: Int, serial: UInt64) {
    rawValue = UInt64(truncatingIfNeeded: home) << 56 | (serial & 0xFF_FFFF_FFFF_FFFF)
  }
  @inlinable public var home: Int { Int(rawValue >> 56) }
}

/// Names a track: the peer that sends it and the index of its `ReceiveSection`; in the media plane one encoding of it.
public struct TrackKey: BitwiseCopyable, Hashable, Sendable {
  public var peer: PeerKey
  public var index: UInt16
  /// Its place among the section's encodings. 0 also names the whole track.
  public var encoding: UInt8

  @inlinable public init(peer: PeerKey, index: UInt16, encoding: UInt8 = 0) {
    self.peer = peer
    self.index = index
    self.encoding = encoding
  }

  /// The whole track.
  @inlinable public var track: TrackKey { TrackKey(peer: peer, index: index) }
}
