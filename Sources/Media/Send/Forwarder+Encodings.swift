internal import Model

/// Which encoding of its track a stream shows, and which it goes on to.
public struct StreamEncodings: BitwiseCopyable, Sendable {
  public internal(set) var shown: UInt8 = 0
  /// The one that is shown goes on until this one's next key frame.
  public internal(set) var next: UInt8?
  var nextClock: ClockMapping?
  /// Which layers of that one are to be shown. No state: its owner says it again.
  var nextSpatial = LayerFilter.all
  var nextTemporal = LayerFilter.all
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

  /// Has the stream show these layers of an encoding, as soon as they can be begun or left out; 255: all that there are.
  /// - Parameters:
  ///   - encoding: the one that is shown, or is to be.
  ///   - sheds: until that one is shown, the present one is reduced to its lowest layer.
  public mutating func wantLayers(of encoding: UInt8, spatial: UInt8, temporal: UInt8, sheds: Bool = false) {
    guard encoding != encodings.shown else {
      return leftOut.filter.want(spatial: spatial, temporal: temporal)
    }
    (encodings.nextSpatial, encodings.nextTemporal) = (spatial, temporal)
    if sheds { leftOut.filter.want(spatial: 0, temporal: 0) }
  }

  /// Whether layers of size up to that one can't be shown of an encoding without a key frame, where the stream waits for none yet.
  func takesKeyFrame(_ spatial: UInt8, of encoding: UInt8) -> Bool {
    kind == .video && state == .flowing && encoding == encodings.shown
      && leftOut.filter.takesKeyFrame(spatial)
  }

  /// Nothing of the encoding that is shown leaves any more; the stream waits for the next one's key frame.
  /// - Returns: false where it goes on to none.
  public mutating func giveUpEncoding() -> Bool {
    guard let next = encodings.next, state == .flowing || state == .waitingForKeyFrame else { return false }
    take(next)
    state = .waitingForKeyFrame
    return true
  }

  /// The stream belongs to another encoding from here on.
  private mutating func take(_ encoding: UInt8) {
    if state == .flowing, joined.isJoined, isAnchored(joined.restart, joined.encoding) { noteSentClock() }
    clocks.source = encodings.nextClock
    leftOut.filter.want(spatial: encodings.nextSpatial, temporal: encodings.nextTemporal)
    encodings = StreamEncodings(shown: encoding, isPaused: encodings.isPaused)
    joined.isJoined = false
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
    guard canBegin(info) else {
      counters.otherEncoding &+= 1
      return false
    }
    take(info.encoding)
    return true
  }
}
