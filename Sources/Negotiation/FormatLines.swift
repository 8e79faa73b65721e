import Wire

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What a section says of each payload type, found in one walk over its lines.
struct FormatLines {
  struct Entry {
    var map: RTPMapAttribute?
    var parameters: String?
    fileprivate var feedback: FeedbackKinds = []
  }

  private var entries = [Entry](repeating: Entry(), count: 128)
  /// For all payload types.
  private var common: FeedbackKinds = []
  /// By the payload type that they repair, in the order of the section's formats.
  private var retransmissions: [UInt8: [UInt8]] = [:]

  init(of section: MediaDescription) {
    for map in section.rtpMaps where entries[Int(map.payloadType)].map == nil {
      entries[Int(map.payloadType)].map = map
    }
    for line in section.formatParameters where entries[Int(line.payloadType)].parameters == nil {
      entries[Int(line.payloadType)].parameters = line.parameters
    }
    for line in section.feedback {
      var kinds = FeedbackKinds(line.kind)
      // It speaks of all payload types, or of none (RFC 8888 §6).
      if line.payloadType != nil { kinds.remove(.ccfb) }
      if let payloadType = line.payloadType {
        entries[Int(payloadType)].feedback.formUnion(kinds)
      } else {
        common.formUnion(kinds)
      }
    }
    var seen: Set<UInt8> = []
    for payloadType in section.payloadTypes where payloadType < 128 && seen.insert(payloadType).inserted {
      // RFC 4588 §8.1: a format `rtx` whose `apt` names the payload type.
      let entry = entries[Int(payloadType)]
      guard let map = entry.map, map.encodingName.lowercased() == "rtx", let text = entry.parameters,
        let apt = FormatParameters(text)?["apt"], let original = UInt8(apt), "\(original)" == apt
      else { continue }
      retransmissions[original, default: []].append(payloadType)
    }
  }

  subscript(payloadType: UInt8) -> Entry { entries[Int(payloadType & 0x7F)] }

  func feedback(of payloadType: UInt8) -> FeedbackKinds {
    self[payloadType].feedback.union(common)
  }

  /// The first of the same clock.
  func retransmission(of payloadType: UInt8, clockRate: UInt32) -> UInt8? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.rtxClock) { return retransmissions[payloadType]?.first }
    #endif
    return retransmissions[payloadType]?.first { self[$0].map?.clockRate == clockRate }
  }
}

/// Feedback that we give or take.
struct FeedbackKinds: OptionSet {
  let rawValue: UInt8

  static let nack = FeedbackKinds(rawValue: 1)
  static let pli = FeedbackKinds(rawValue: 2)
  static let fir = FeedbackKinds(rawValue: 4)
  static let transportCC = FeedbackKinds(rawValue: 8)
  static let remb = FeedbackKinds(rawValue: 16)
  static let ccfb = FeedbackKinds(rawValue: 32)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// - Parameter text: as it stands in `a=rtcp-fb`, in whatever case.
  init(_ text: String) {
    // None of ours is longer.
    guard text.utf8.count <= 16 else {
      self = []
      return
    }
    self =
      switch text.lowercased() {
      case "nack": .nack
      case "nack pli": .pli
      case "ccm fir": .fir
      case "transport-cc": .transportCC
      case "goog-remb": .remb
      case "ack ccfb": .ccfb
      default: []
      }
  }
}

/// The parameters of a format, read once.
struct FormatParameters {
  /// Bytes: H.264's parameter sets take a few hundred.
  static let maximumBytes = 1_024

  let text: String
  private let pairs: [(name: String, value: String)]

  /// - Returns: nil for more than anybody needs.
  init?(_ text: String) {
    #if PLANTED_DEFECTS
      let isLong = !PlantedDefect.isOn(.formatUnbounded) && text.utf8.count > Self.maximumBytes
    #else
      let isLong = text.utf8.count > Self.maximumBytes
    #endif
    guard !isLong else { return nil }
    self.text = text
    pairs = FormatAttribute(payloadType: 0, parameters: text).pairs
  }

  subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }
}
