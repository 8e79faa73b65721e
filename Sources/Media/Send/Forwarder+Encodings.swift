internal import Model

/// Which encoding of its track a stream shows, and which it goes on to.
public struct StreamEncodings: BitwiseCopyable, Sendable {
  public internal(set) var shown: UInt8 = 0
  /// The one that is shown goes on until this one's next key frame.
  public internal(set) var next: UInt8?
  var nextClock: ClockMapping?
  /// Nothing of the source leaves.
  public internal(set) var isPaused = false
}

/// How a stream goes from one encoding of its track to another: as from one source to another, but without a wait.
extension Forwarder {
  /// Has the stream go on to another encoding at that one's next key frame.
  /// - Parameters:
  ///   - encoding: nil: it stays where it is.
  ///   - mapping: what is known of that encoding's clock.
  public mutating func setNextEncoding(_ encoding: UInt8?, clock mapping: ClockMapping?) {
    guard source != nil, encoding != encodings.shown else {
      encodings.next = nil
      encodings.nextClock = nil
      return
    }
    encodings.next = encoding
    encodings.nextClock = mapping
  }

  /// Has the stream show these layers of its encoding, as soon as they can be begun or left out; 255: all that there are.
  public mutating func wantLayers(spatial: UInt8, temporal: UInt8) {
    leftOut.filter.want(spatial: spatial, temporal: temporal)
  }

  /// Pauses the stream, or lets it flow again.
  /// - Returns: true where it needs a key frame for that.
  public mutating func setPaused(_ pauses: Bool) -> Bool {
    guard pauses != encodings.isPaused else { return false }
    encodings.isPaused = pauses
    guard kind == .video, source != nil, state != .withoutCodec else { return false }
    if pauses {
      if state == .flowing, joined.isJoined, isAnchored(joined.restart, joined.encoding) { noteSentClock() }
      joined.isJoined = false
    }
    state = .waitingForKeyFrame
    return !pauses
  }

  /// True while that encoding can't be shown without a key frame.
  public mutating func waitsForKeyFrame(of encoding: UInt8) -> Bool {
    kind == .video && !encodings.isPaused
      && (encoding == encodings.shown
        ? state == .waitingForKeyFrame || leftOut.filter.needsKeyFrame : encoding == encodings.next)
  }

  /// A packet of another encoding than the one that is shown: the stream goes on with it, if it may.
  /// - Returns: whether it does.
  @inline(never)
  mutating func goOn(to info: PacketInfo) -> Bool {
    guard info.encoding == encodings.next, state != .idle else {
      // What was on its way when the stream went on.
      counters.otherEncoding &+= 1
      return false
    }
    #if PLANTED_DEFECTS
      let isBeginning = PlantedDefect.isOn(.switchWithoutKeyFrame) || canBegin(info)
    #else
      let isBeginning = canBegin(info)
    #endif
    guard isBeginning else {
      counters.otherEncoding &+= 1
      return false
    }
    if state == .flowing, joined.isJoined, isAnchored(joined.restart, joined.encoding) { noteSentClock() }
    clocks.source = encodings.nextClock
    encodings = StreamEncodings(shown: info.encoding)
    joined.isJoined = false
    return true
  }
}
