public import Model
internal import Wire

/// How a far end says what its negotiator means: under payload types and header extension ids of its own, and
/// without what it doesn't know. Numbers that are the same everywhere would hide that they aren't mapped.
public struct Dialect: Sendable {
  /// What a number of the negotiator is called; the same where nothing stands.
  var payloadTypes: [UInt8: UInt8] = [:]
  var extensionIDs: [UInt8: UInt8] = [:]
  /// Codecs that it can't decode: they are missing in sections in which it receives.
  public var lacks: Set<Codec> = []
  /// `a=extmap-allow-mixed` (RFC 8285 §6).
  public var mixesExtensions = true
  /// `a=rtcp-rsize` (RFC 5506).
  public var reducesRTCP = true
  /// Wants retransmissions as a stream of their own.
  public var acceptsRTX = true
  /// Asks for lost packets at all.
  public var asksForLost = true
  /// Tells the server when each packet arrived, over the whole transport.
  public var tellsArrivals = false
  /// How long an arrival waits at most until it is reported.
  public var arrivalInterval = Duration.milliseconds(50)
  /// Offers to send and to get times of capture.
  public var tellsCaptureTime = false

  public init() {}

  /// Numbers that no other peer has; ids above 14 for some of those who may use the two-byte form at any time.
  package mutating func shuffle(_ random: inout RandomSource) {
    let dynamic = (Array(96...127) + Array(35...63)).shuffled(using: &random) as [UInt8]
    let known: [UInt8] = [111, 63, 96, 97, 98, 99, 102, 103, 104, 105, 106, 107]
    payloadTypes = Dictionary(uniqueKeysWithValues: zip(known, dynamic))
    let highest: UInt8 = mixesExtensions && random.next() % 3 == 0 ? 40 : 14
    let ids = (1...highest).filter { $0 != 15 }.shuffled(using: &random)
    extensionIDs = Dictionary(uniqueKeysWithValues: zip(1...UInt8(ids.count), ids))
  }

  private static func inverse(_ map: [UInt8: UInt8]) -> [UInt8: UInt8] {
    Dictionary(uniqueKeysWithValues: map.map { ($1, $0) })
  }

  /// Turns the negotiator's offer into what leaves.
  func speak(_ offer: inout SessionDescription) {
    offer.shared.allowsMixedExtensions = mixesExtensions
    for index in offer.media.indices {
      offer.media[index].shared.allowsMixedExtensions = false
      offer.media[index].rtcpReducedSize = reducesRTCP
      if offer.media[index].shared.direction == .recvonly {
        if !acceptsRTX || !asksForLost { offer.media[index].remove { $0 == "rtx" } }
        if !asksForLost { offer.media[index].feedback.removeAll { $0.kind.lowercased() == "nack" } }
        if !tellsArrivals { offer.media[index].removeTransportFeedback() }
        let names = lacks.map { $0.encodingName.lowercased() }
        offer.media[index].remove { names.contains($0) }
      }
      offer.media[index].renumber(payloadTypes, extensionIDs)
    }
  }

  /// Turns an answer into what the negotiator understands.
  func understand(_ answer: inout SessionDescription) {
    for index in answer.media.indices {
      answer.media[index].renumber(Self.inverse(payloadTypes), Self.inverse(extensionIDs))
    }
  }

  /// What the negotiator agreed on, in the numbers that are on the wire.
  func translate(_ media: AgreedMedia) -> AgreedMedia {
    var media = media
    media.receive = media.receive.map { section in
      var section = section
      translate(&section.codecs, &section.extensions)
      return section
    }
    media.send = media.send.map { section in
      var section = section
      translate(&section.codecs, &section.extensions)
      return section
    }
    return media
  }

  private func translate(_ codecs: inout [NegotiatedCodec], _ extensions: inout HeaderExtensionMap) {
    for index in codecs.indices {
      codecs[index].payloadType = payloadTypes[codecs[index].payloadType] ?? codecs[index].payloadType
      codecs[index].rtxPayloadType = codecs[index].rtxPayloadType.map { payloadTypes[$0] ?? $0 }
    }
    for kind in HeaderExtension.allCases where extensions[kind] != 0 {
      extensions[kind] = extensionIDs[extensions[kind]] ?? extensions[kind]
    }
  }
}

extension MediaDescription {
  /// Leaves formats out, and the retransmission of what is left out.
  fileprivate mutating func remove(_ isUnknown: (String) -> Bool) {
    let named = rtpMaps.filter { isUnknown($0.encodingName.lowercased()) }.map(\.payloadType)
    let dependent = formatParameters.filter { parameters in
      named.contains { parameters["apt"] == "\($0)" }
    }.map(\.payloadType)
    let numbers = Set(named + dependent)
    formats.removeAll { numbers.contains(UInt8($0) ?? 255) }
    rtpMaps.removeAll { numbers.contains($0.payloadType) }
    formatParameters.removeAll { numbers.contains($0.payloadType) }
    feedback.removeAll { numbers.contains($0.payloadType ?? 255) }
  }

  fileprivate mutating func removeTransportFeedback() {
    feedback.removeAll { $0.kind.lowercased() == "transport-cc" }
    shared.extensions.removeAll { HeaderExtension(uri: $0.uri) == .transportSequence }
  }

  fileprivate mutating func renumber(_ types: [UInt8: UInt8], _ ids: [UInt8: UInt8]) {
    func renamed(_ text: some StringProtocol) -> String {
      UInt8(text).map { "\(types[$0] ?? $0)" } ?? String(text)
    }
    formats = formats.map { renamed($0) }
    for index in rtpMaps.indices {
      rtpMaps[index].payloadType = types[rtpMaps[index].payloadType] ?? rtpMaps[index].payloadType
    }
    for index in feedback.indices {
      feedback[index].payloadType = feedback[index].payloadType.map { types[$0] ?? $0 }
    }
    for index in formatParameters.indices {
      let item = formatParameters[index]
      formatParameters[index].payloadType = types[item.payloadType] ?? item.payloadType
      if let original = item["apt"] {
        formatParameters[index].parameters = "apt=" + renamed(original)
      } else if item.parameters.contains("/") {
        // RED's blocks.
        formatParameters[index].parameters = item.parameters.split(separator: "/").map { renamed($0) }
          .joined(separator: "/")
      }
    }
    for index in shared.extensions.indices {
      let id = shared.extensions[index].id
      shared.extensions[index].id = UInt8(exactly: id).flatMap { ids[$0] }.map(UInt16.init) ?? id
    }
  }
}
