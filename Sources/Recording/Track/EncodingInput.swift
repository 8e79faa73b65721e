internal import Media
internal import Model

/// One encoding of a track on its way into the file: put in order, made frames, and those alone that can be decoded.
struct EncodingInput: Sendable {
  /// How long what is missing may still be sent again.
  private static let patience: (video: Duration, audio: Duration) = (.milliseconds(1_500), .milliseconds(500))

  private let kind: MediaKind
  private var order: PacketOrder
  private var pictures = FrameAssembler()
  private var sound = SoundAssembler()
  private var continuity = FrameContinuity()
  var parameters = CodecParameters()
  /// Where the timestamps of the present source stand, and of the one before it: its last frames may still wait.
  private(set) var clock: ClockMapping?
  private var former: (ssrc: UInt32, clock: ClockMapping)?
  private var stale: ClockMapping?
  private var ssrc: UInt32?
  /// Of the last key frame that said so.
  private(set) var size: PictureSize?
  private var hasKeyFrame = false
  /// When its last packet came.
  private(set) var heard: Instant?
  private var restart: UInt8?
  private(set) var lost: UInt64 = 0
  /// Whole frames that couldn't have been decoded.
  private(set) var skipped: UInt64 = 0

  init(_ kind: MediaKind) {
    self.kind = kind
    order = PacketOrder(patience: kind == .video ? Self.patience.video : Self.patience.audio)
  }

  /// Of the last key frame; nil before the first.
  var pixels: Int? { hasKeyFrame ? size?.pixels ?? 0 : nil }
  var incomplete: UInt64 { pictures.incomplete }
  var needsKeyFrame: Bool { kind == .video && continuity.needsKeyFrame }

  /// - Parameter new: where the timestamps stand, as is known by now: of another source before it, until it has reported.
  mutating func add(_ packet: FramePacket, clock new: ClockMapping?) {
    if let new, new != stale { clock = new }
    if packet.ssrc != ssrc {
      #if PLANTED_DEFECTS
        let isKept = PlantedDefect.isOn(.oldClockBelieved)
      #else
        let isKept = false
      #endif
      if !isKept, let ssrc, let known = clock, known.isReported {
        former = (ssrc, known)
        (stale, clock) = (known, nil)
      }
      ssrc = packet.ssrc
    }
    heard = packet.arrival
    order.add(packet)
  }

  func clock(of frame: EncodedFrame) -> ClockMapping? {
    if let former, former.ssrc == frame.ssrc, frame.ssrc != ssrc { former.clock } else { clock }
  }

  /// The frames that are whole by now and that a decoder can make use of.
  mutating func frames(now: Instant) -> [EncodedFrame] {
    var frames: [EncodedFrame] = []
    while let step = order.next(now: now) {
      switch step {
      case .lost(let count):
        lost &+= UInt64(clamping: count)
        pictures.lose()
        sound.lose()
      case .packet(let packet):
        // Between two lives of a source, or before and after a mute, nothing is joined.
        if let restart, restart != packet.restart { pictures.lose() }
        restart = packet.restart
        // A probe, which takes a number and has nothing.
        if packet.payload.isEmpty { continue }
        if kind == .video {
          pictures.add(packet, into: &frames)
        } else {
          sound.add(packet, into: &frames)
        }
      }
    }
    guard kind == .video else { return frames }
    return frames.filter { frame in
      parameters.note(frame)
      if frame.isKeyFrame {
        size = frame.size ?? size
        hasKeyFrame = true
      }
      let isGood = continuity.admit(frame)
      if !isGood { skipped &+= 1 }
      return isGood
    }
  }
}
