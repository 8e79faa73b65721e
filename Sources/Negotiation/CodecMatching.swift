import Model
import Wire

extension MediaDescription {
  /// Those of our codecs that the section lists, in its order of preference, each under the first payload type
  /// that fits. Feedback and retransmission are as the section has them.
  func forwardableCodecs(_ kind: MediaKind) -> [NegotiatedCodec] {
    var found: [NegotiatedCodec] = []
    for payloadType in payloadTypes {
      guard let map = rtpMap(of: payloadType),
        let codec = Codec.allCases.first(where: { $0.kind == kind && $0.matches(map) }),
        !found.contains(where: { $0.codec == codec })
      else { continue }
      let feedback = feedback(of: payloadType)
      let nack = feedback.contains("nack")
      found.append(
        NegotiatedCodec(
          codec: codec, payloadType: payloadType,
          // Nobody would ask for a retransmission without NACK.
          rtxPayloadType: nack ? retransmission(of: payloadType, clockRate: map.clockRate) : nil,
          nack: nack, pli: feedback.contains("nack pli"), transportCC: feedback.contains("transport-cc"),
          formatParameters: parameters(of: payloadType)?.parameters ?? ""))
    }
    return found
  }

  /// RFC 4588 §8.1: a format `rtx` of the same clock whose `apt` names the payload type.
  private func retransmission(of payloadType: UInt8, clockRate: UInt32) -> UInt8? {
    payloadTypes.first { candidate in
      guard let map = rtpMap(of: candidate) else { return false }
      return map.encodingName.lowercased() == "rtx" && map.clockRate == clockRate
        && parameters(of: candidate)?["apt"] == "\(payloadType)"
    }
  }

  /// Describes codecs in a section of ours.
  mutating func describe(_ codecs: [NegotiatedCodec], parameters: (NegotiatedCodec) -> String) {
    formats = []
    for codec in codecs {
      let number = codec.payloadType
      formats.append("\(number)")
      rtpMaps.append(
        RTPMapAttribute(
          payloadType: number, encodingName: codec.codec.encodingName, clockRate: codec.codec.clockRate,
          channels: codec.codec.channels))
      for (kind, isAgreed) in [
        ("nack", codec.nack), ("nack pli", codec.pli), ("transport-cc", codec.transportCC),
      ] where isAgreed { feedback.append(FeedbackAttribute(payloadType: number, kind: kind)) }
      let text = parameters(codec)
      if !text.isEmpty { formatParameters.append(FormatAttribute(payloadType: number, parameters: text)) }

      guard let rtx = codec.rtxPayloadType else { continue }
      formats.append("\(rtx)")
      rtpMaps.append(
        RTPMapAttribute(payloadType: rtx, encodingName: "rtx", clockRate: codec.codec.clockRate))
      formatParameters.append(FormatAttribute(payloadType: rtx, parameters: "apt=\(number)"))
    }
  }
}

extension Codec {
  func matches(_ map: RTPMapAttribute) -> Bool {
    map.encodingName.lowercased() == encodingName.lowercased() && map.clockRate == clockRate
      && map.channels ?? 1 == channels ?? 1
  }

  /// RFC 7587 §4.1: Opus is always announced as stereo.
  var channels: UInt16? { self == .opus ? 2 : nil }

  /// What our answer says about a codec that was offered with these parameters.
  ///
  /// In an answer they are wishes of the receiver. Those who will hear the track take what the offer's side can
  /// decode, so its own wishes come back; limits on picture size say nothing about what we forward.
  func answerParameters(to offered: String) -> String {
    guard self == .opus else { return "" }
    let echoed: Set = ["minptime", "useinbandfec", "stereo", "usedtx"]
    return FormatAttribute(payloadType: 0, parameters: offered).pairs
      .filter { echoed.contains($0.name) && $0.value[...].utf8.allSatisfy { (0x30...0x39).contains($0) } }
      .prefix(echoed.count).map { "\($0.name)=\($0.value)" }.joined(separator: ";")
  }
}
