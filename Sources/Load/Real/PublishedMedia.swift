internal import Model

/// What one publisher has sent: when each picture was captured, and how much sound.
struct PublishedMedia {
  /// By number; `.never` for one that was encoded and not sent.
  private(set) var captured: [Instant] = []
  private(set) var sounds = 0
  /// Pictures that were due and not made, as this machine had too little time.
  var missed = 0
  var hasBegun = false
  var hasEnded = false

  /// In the measured span: pictures by number, sound by count.
  private var pictureStart = 0
  private var pictureEnd: Int?
  private var soundStart = 0
  private var soundEnd: Int?
  private var missedStart = 0

  mutating func note(picture number: Int, capturedAt: Instant?) {
    // They come in order.
    while captured.count < number { captured.append(.never) }
    captured.append(capturedAt ?? .never)
  }

  mutating func noteSound() { sounds += 1 }

  mutating func begin() {
    (pictureStart, pictureEnd, soundStart, soundEnd) = (captured.count, nil, sounds, nil)
    missedStart = missed
  }

  mutating func end() { (pictureEnd, soundEnd) = (captured.count, sounds) }

  var pictures: Range<Int> { pictureStart..<max(pictureEnd ?? captured.count, pictureStart) }
  /// When those of the span were captured that were sent.
  var capturedInSpan: [Instant] { captured[pictures].filter { $0 != .never } }
  var soundsInSpan: Int { (soundEnd ?? sounds) - soundStart }
  var missedInSpan: Int { missed - missedStart }
}
