internal import Model

/// Which codecs the publishers of one room are to name, by what those who are present have offered.
struct CodecLedger {
  /// What is known of a room at a moment.
  struct Presence {
    /// Codecs that a subscriber lacks; where subscribers share none, the codecs that fewer than the most support.
    var lacked: Set<String> = []
    var isEmpty = false
    /// A publisher's media is connected: the server compares codecs only then.
    var isLooked = true
    /// False: an offer came to the server, and it isn't known outside whether it was answered.
    var isKnown = true
  }

  /// Codecs for pictures, as descriptions name them, in lower case.
  static let codecs: Set<String> = ["vp8", "vp9", "h264", "h265", "av1"]

  /// The codecs that a subscriber lacks; where subscribers share none, those that fewer than the most support.
  /// - Parameter taken: what each subscriber supports.
  static func lacked(by taken: [Set<String>]) -> Set<String> {
    let counts = Dictionary(
      uniqueKeysWithValues: codecs.map { codec in (codec, taken.count { $0.contains(codec) }) })
    let most = counts.values.max() ?? 0
    return codecs.filter { counts[$0] != most }
  }

  private var words = Dictionary(uniqueKeysWithValues: codecs.map { ($0, CodecWord()) })

  /// So it is from here on, or still.
  mutating func note(_ presence: Presence, now: Instant) {
    for codec in Self.codecs {
      words[codec]?.set(isLacked: presence.lacked.contains(codec), now: now)
      if presence.isEmpty { words[codec]?.empty(now) }
      if !presence.isLooked { words[codec]?.standStill(now) }
      if !presence.isKnown { words[codec]?.doubt(now) }
      words[codec]?.pass(to: now)
    }
  }

  func expected(_ codec: String) -> CodecWord.Expected { words[codec]?.expected ?? .either }

  /// What is wrong with what a publisher has heard of a track.
  /// - Parameters:
  ///   - section: the codecs of the track's section, by the numbers of the answer and in its order.
  ///   - heard: what `publish` named last; nil: nothing was said.
  func problem(_ section: [NamedCodec], heard: [NamedCodec]?) -> String? {
    guard let heard else { return "nothing" }
    if let strange = heard.first(where: { !section.contains($0) }) {
      return "\(strange), which is not in its section"
    }
    if section.filter(heard.contains) != heard { return "its section's codecs in another order" }
    for codec in section {
      switch expected(codec.name) {
      case .named where !heard.contains(codec): return "nothing of \(codec), which all have"
      case .unnamed where heard.contains(codec):
        return "\(codec), which a subscriber lacks or lacked recently"
      default: break
      }
    }
    return nil
  }
}

/// A codec of a section, under its payload type.
struct NamedCodec: Equatable, CustomStringConvertible {
  let payloadType: Int
  /// In lower case.
  let name: String

  init(_ payloadType: Int, _ name: String) {
    (self.payloadType, self.name) = (payloadType, name.lowercased())
  }

  var description: String { "\(name) as \(payloadType)" }
}
