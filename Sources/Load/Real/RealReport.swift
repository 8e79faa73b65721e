/// What of pictures and tones came, decoded; in the measured span alone unless it says otherwise.
public struct RealReport: Encodable, Equatable, Sendable {
  /// Pictures, once for each subscriber that should get them.
  public struct Pictures: Encodable, Equatable, Sendable {
    public var expected = 0
    /// Decoded, and found to be the one that was drawn.
    public var verified = 0
    /// Decoded and wrong, or not to be decoded although whole; at any time.
    public var corrupt = 0
    /// Pauses between two pictures of more than an interval and 150 ms, and what they last together.
    public var freezes = 0
    public var frozenSeconds = 0.0

    public init() {}

    /// Never shown.
    public var skipped: Int { max(expected - verified, 0) }
    /// Verified of the expected, 0 to 1.
    public var share: Double { expected > 0 ? Double(verified) / Double(expected) : 0 }

    private enum CodingKeys: String, CodingKey {
      case expected, verified, corrupt, freezes, frozenSeconds, skipped, share
    }

    public func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(expected, forKey: .expected)
      try fields.encode(verified, forKey: .verified)
      try fields.encode(corrupt, forKey: .corrupt)
      try fields.encode(freezes, forKey: .freezes)
      try fields.encode(frozenSeconds, forKey: .frozenSeconds)
      try fields.encode(skipped, forKey: .skipped)
      try fields.encode(share, forKey: .share)
    }
  }

  /// Frames of sound of 20 ms, once for each subscriber.
  public struct Tones: Encodable, Equatable, Sendable {
    /// By count, so that those on their way make a difference of a frame or two.
    public var expected = 0
    /// Decoded, with the pitch of their publisher; another pitch, or none.
    public var right = 0
    public var wrong = 0

    public init() {}
  }

  /// What one subscriber got.
  public struct Subscriber: Encodable, Equatable, Sendable {
    /// Its number: its identity is `load-` and that.
    public var participant = 0
    public var pictures = Pictures()
    public var tones = Tones()
    public var delay = LoadDelay()

    public init() {}
  }

  /// Pictures that publishers have sent, each once.
  public var sent = 0
  public var pictures = Pictures()
  public var tones = Tones()
  /// From a picture's capture until it is decoded.
  public var delay = LoadDelay()
  /// From a picture's last packet until it is decoded: this machine's part of that.
  public var decoding = LoadDelay()
  /// Pictures that this machine had no time to make when they were due, or to decode.
  public var missed = 0
  /// Tracks of which a subscriber has never had a picture or a frame of sound that was right.
  public var neverRight = 0
  /// What was wrong with pictures and tones, each with how often; at any time.
  public var faults: [String: Int] = [:]
  /// By the last span; in the order of their numbers.
  public var subscribers: [Subscriber] = []

  public init() {}

  /// Something came of each track, and nothing was wrong.
  public var isGood: Bool {
    neverRight == 0 && pictures.corrupt == 0 && tones.wrong == 0
      && (subscribers.isEmpty || pictures.verified > 0)
  }
}

// MARK: - As people read it

extension RealReport {
  /// Subscribers that the table has lines for; the worst of more.
  private static let lines = 20

  var rows: [(String, String)] {
    var rows: [(String, String)] = [
      ("pictures sent", "\(sent)"),
      ("expected", "\(pictures.expected)"),
      ("verified", "\(pictures.verified) (\(Decimals.text(pictures.share * 100, 3)) %)"),
      ("skipped", "\(pictures.skipped)"),
      ("corrupt", "\(pictures.corrupt)"),
      ("frozen", Self.frozen(pictures)),
      ("tones right", "\(tones.right) of \(tones.expected)"),
      ("tones wrong", "\(tones.wrong)"),
      ("capture to decode, ms", delay.text),
      ("arrival to decode, ms", decoding.text),
    ]
    if missed > 0 {
      rows.append(("no time here for", "\(missed) pictures: this machine is too slow for the load"))
    }
    if neverRight > 0 { rows.append(("NEVER CAME", "\(neverRight) tracks of a subscriber")) }
    for (fault, count) in faults.sorted(by: { $0.key < $1.key }) {
      rows.append(("WRONG", "\(count): \(fault)"))
    }
    let worst = subscribers.sorted {
      ($0.pictures.share, $0.participant) < ($1.pictures.share, $1.participant)
    }
    let shown = subscribers.count <= Self.lines ? subscribers : Array(worst.prefix(Self.lines))
    for subscriber in shown { rows.append(("load-\(subscriber.participant)", Self.text(subscriber))) }
    if shown.count < subscribers.count {
      rows.append(("", "and \(subscribers.count - shown.count) that got more; --json has all"))
    }
    return rows
  }

  private static func text(_ subscriber: Subscriber) -> String {
    let pictures = subscriber.pictures
    return
      "\(pictures.verified) of \(pictures.expected), \(pictures.corrupt) corrupt, frozen \(frozen(pictures)); tones "
      + "\(subscriber.tones.right) right, \(subscriber.tones.wrong) wrong; ms \(subscriber.delay.text)"
  }

  private static func frozen(_ pictures: Pictures) -> String {
    "\(Decimals.text(pictures.frozenSeconds, 2)) s in \(pictures.freezes)"
  }
}
