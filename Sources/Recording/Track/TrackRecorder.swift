public import Containers
public import Media
public import Model

/// Makes files of one track: takes its packets as they come, and says what is to be written.
///
/// A value: it has no clock and no file. Times are those of the publisher's own clock, as its sender reports tie it to the server's
/// time line, so that what was recorded at the same moment has the same time in each file, whatever the network did. Until a report has
/// come nothing is written: what comes first is kept, for some seconds.
public struct TrackRecorder: Sendable {
  public struct Terms: Sendable {
    public var epoch: Epoch
    /// The recording's beginning.
    public var zero: NTPTime
    public var form: RecordingForm
    /// How long frames are kept while their time isn't known.
    public var patience: Duration

    public init(
      epoch: Epoch, zero: NTPTime, form: RecordingForm = .webm, patience: Duration = .seconds(8)
    ) {
      self.epoch = epoch
      self.zero = zero
      self.form = form
      self.patience = patience
    }
  }

  public enum Output: Equatable, Sendable {
    case begin(SegmentStart)
    /// Of the file that was begun last.
    case write(FileChange)
    /// Nothing more comes for the file that was begun last.
    case end(SegmentEnd)
    case keyFrameWanted(encoding: Int)
  }

  /// Bytes that are kept for each second of that.
  static let mostHeld = 512 * 1_024

  let terms: Terms
  public let kind: MediaKind
  var inputs: [EncodingInput]
  var choice = EncodingChoice()
  private var merge = EncodingMerge()
  /// Of the last frame that was written or kept, in nanoseconds from the recording's beginning.
  private var lastTime = Int64.min
  private var segment: TrackSegment?
  private var segments = 0
  /// When the first file begins, in nanoseconds from the recording's beginning; nil: with its first frame.
  public var origin: Int64?
  /// Frames whose time isn't known yet.
  private var held: [(frame: EncodedFrame, encoding: Int)] = []
  private var heldBytes = 0
  private var isHolding = true
  private var heldSince: Instant?
  private var ssrc: (number: UInt32, encoding: Int)?
  private var outputs: [Output] = []

  /// - Parameters:
  ///   - encodings: of a simulcast, in any order; 1 of other tracks.
  ///   - origin: of those that begin together, so that their files do. Of no account for a first frame that comes much later.
  public init(_ kind: MediaKind, encodings: Int = 1, terms: Terms, origin: Int64? = nil) {
    self.kind = kind
    self.terms = terms
    self.origin = origin
    inputs = (0..<max(1, encodings)).map { _ in EncodingInput(kind) }
  }

  /// Takes a packet.
  /// - Parameters:
  ///   - packet: plain RTP, about which `info` is.
  ///   - clock: where the encoding's timestamps stand, as is known by now.
  public mutating func take(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, clock: ClockMapping?) {
    let encoding = Int(info.encoding)
    guard inputs.indices.contains(encoding), let packet = FramePacket(packet, info) else { return }
    take(packet, encoding: encoding, clock: clock)
  }

  public mutating func take(_ packet: FramePacket, encoding: Int = 0, clock: ClockMapping?) {
    guard inputs.indices.contains(encoding) else { return }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.probesMissing), packet.payload.isEmpty { return }
    #endif
    inputs[encoding].add(packet, clock: clock)
  }

  /// Says what is to be done by now. Called a few times a second at least, and after packets.
  public mutating func poll(now: Instant) -> [Output] {
    takeFrames(now: now)
    release(now: now)
    if kind == .video {
      let isWriting = isHolding || segment != nil
      for encoding in choice.wanted(inputs, isWriting: isWriting, now: now) {
        outputs.append(.keyFrameWanted(encoding: encoding))
      }
    }
    defer { outputs = [] }
    return outputs
  }

  /// Nothing more comes.
  public mutating func finish(now: Instant) -> [Output] {
    takeFrames(now: .never)
    release(now: .never)
    endSegment()
    defer { outputs = [] }
    return outputs
  }

  /// What became of the track.
  public var counts: TrackCounts {
    var counts = TrackCounts()
    for input in inputs {
      counts.packetsLost &+= input.lost
      counts.framesIncomplete &+= input.incomplete
      counts.framesSkipped &+= input.skipped
    }
    counts.switches = choice.switches
    return counts
  }

  // MARK: - Frames

  private mutating func takeFrames(now: Instant) {
    for encoding in inputs.indices {
      for frame in inputs[encoding].frames(now: now) {
        let time = time(of: frame, encoding)
        #if PLANTED_DEFECTS
          let isAlone = inputs.count == 1 || PlantedDefect.isOn(.encodingsUnmerged)
        #else
          let isAlone = inputs.count == 1
        #endif
        if isAlone { take(frame, encoding, at: time) } else { merge.add(frame, encoding, at: time) }
      }
    }
    while let next = merge.next(now: now) { take(next.frame, next.encoding, at: next.time) }
  }

  private mutating func take(_ frame: EncodedFrame, _ encoding: Int, at time: Int64) {
    if kind == .video, !choice.takes(frame, encoding, isLate: time < lastTime, inputs) { return }
    lastTime = time
    if let ssrc, ssrc.encoding == encoding, ssrc.number != frame.ssrc {
      // Its publisher began again; its clock is another.
      release(now: .never)
      endSegment()
      isHolding = true
    }
    ssrc = (frame.ssrc, encoding)
    guard isHolding else { return write(frame, encoding) }
    if held.isEmpty { heldSince = frame.arrival }
    held.append((frame, encoding))
    heldBytes += frame.bytes.count
  }

  private var mostHeld: Int { Int(terms.patience.components.seconds) * Self.mostHeld }

  /// Writes what was kept, once its time is known or it is too much.
  private mutating func release(now: Instant) {
    guard isHolding, let last = held.last, let since = heldSince else { return }
    let isKnown = inputs[last.encoding].clock(of: last.frame)?.isReported ?? false
    guard isKnown || now == .never || heldBytes > mostHeld || now - since >= terms.patience else {
      return
    }
    isHolding = false
    let frames = held
    (held, heldBytes, heldSince) = ([], 0, nil)
    for (frame, encoding) in frames { write(frame, encoding) }
  }

  private mutating func write(_ frame: EncodedFrame, _ encoding: Int) {
    let time = time(of: frame, encoding)
    if let segment, segment.codec != frame.format.codec { endSegment() }
    if segment == nil { beginSegment(frame, encoding, at: time) }
    guard let change = segment?.add(frame, at: time), !change.isEmpty else { return }
    outputs.append(.write(change))
  }

  /// Nanoseconds that a frame may take. Longer than senders keep what they can't send and lost packets are waited for, a report is wrong.
  private static let believed: ClosedRange<Int64> = -1_000_000_000...4_000_000_000

  /// Nanoseconds from the recording's beginning. A time that its arrival contradicts is none: then its arrival is.
  private func time(of frame: EncodedFrame, _ encoding: Int) -> Int64 {
    let arrival = terms.epoch.ntp(at: frame.arrival)
    guard let clock = inputs[encoding].clock(of: frame), clock.rate == frame.format.codec.clockRate else {
      return arrival.nanoseconds(since: terms.zero)
    }
    let moment = clock.ntp(at: frame.timestamp)
    let journey = arrival.nanoseconds(since: moment)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.timestampsBelieved) { return moment.nanoseconds(since: terms.zero) }
    #endif
    guard Self.believed.contains(journey) else {
      return arrival.nanoseconds(since: terms.zero)
    }
    return moment.nanoseconds(since: terms.zero)
  }

  // MARK: - Segments

  /// How long after the origin a first frame may come for its file to begin there.
  static let together: Int64 = 5_000_000_000

  private mutating func beginSegment(_ frame: EncodedFrame, _ encoding: Int, at time: Int64) {
    guard frame.isKeyFrame else { return }
    var start = max(0, time)
    if segments == 0, let origin, time - origin < Self.together { start = max(0, origin) }
    let size = frame.size ?? inputs[encoding].size
    guard
      let track = inputs[encoding].parameters.track(frame.format, size: size ?? PictureSize()),
      let (new, change) = TrackSegment.begin(track, terms.form, start: start, serial: UInt32(segments + 1))
    else { return }
    segments += 1
    segment = new
    outputs.append(
      .begin(
        SegmentStart(
          number: segments, start: start, format: frame.format, suffix: new.suffix, size: size,
          clock: inputs[encoding].clock(of: frame))))
    outputs.append(.write(change))
  }

  private mutating func endSegment() {
    guard var ending = segment else { return }
    segment = nil
    let (change, end) = ending.finish()
    outputs.append(.write(change))
    outputs.append(.end(end))
  }
}
