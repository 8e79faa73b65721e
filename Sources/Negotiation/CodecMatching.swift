import Model
import Wire

extension MediaDescription {
  /// Those of our codecs that the section lists, each format under the first payload type that fits. Video comes in
  /// our order, audio in the section's. Feedback and retransmission are as the section has them.
  ///
  /// Each line of the section is read once, whatever it repeats: a description costs its bytes. To be asked once for
  /// each section.
  func forwardableCodecs(_ kind: MediaKind, _ policy: NegotiationPolicy) -> [NegotiatedCodec] {
    let lines = FormatLines(of: self)
    var found: [NegotiatedCodec] = []
    for payloadType in payloadTypes {
      #if PLANTED_DEFECTS
        let lines = PlantedDefect.isOn(.codecsPerFormat) ? FormatLines(of: self) : lines
      #endif
      guard let map = lines[payloadType].map ?? RTPMapAttribute(staticPayloadType: payloadType),
        let codec = policy.codecs(kind).first(where: { $0.matches(map) }),
        let parameters = FormatParameters(lines[payloadType].parameters ?? ""),
        let format = codec.format(parameters), !found.contains(where: { $0.format == format })
      else { continue }
      let feedback = lines.feedback(of: payloadType)
      let nack = feedback.contains(.nack)
      found.append(
        NegotiatedCodec(
          format: format, payloadType: payloadType,
          // Without NACK no retransmission would be asked for.
          rtxPayloadType: nack ? lines.retransmission(of: payloadType, clockRate: map.clockRate) : nil,
          nack: nack, pli: feedback.contains(.pli), fir: feedback.contains(.fir),
          transportCC: feedback.contains(.transportCC), remb: feedback.contains(.remb),
          ccfb: feedback.contains(.ccfb),
          formatParameters: parameters.text))
    }
    // RED is of use only with codecs that we know in it.
    let numbers = found.filter { $0.format != .red }.map(\.payloadType)
    found.removeAll { $0.format == .red && !$0.redBlocks.allSatisfy(numbers.contains) }
    return kind == .audio ? found : policy.ordered(found)
  }

  /// Describes codecs in a section of ours.
  mutating func describe(_ codecs: [NegotiatedCodec], parameters: (NegotiatedCodec) -> String) {
    formats = []
    if codecs.contains(where: \.ccfb) {
      feedback.append(FeedbackAttribute(payloadType: nil, kind: "ack ccfb"))
    }
    for codec in codecs {
      let number = codec.payloadType
      formats.append("\(number)")
      rtpMaps.append(
        RTPMapAttribute(
          payloadType: number, encodingName: codec.codec.encodingName, clockRate: codec.codec.clockRate,
          channels: codec.codec.channels))
      for (kind, isAgreed) in [
        ("nack", codec.nack), ("nack pli", codec.pli), ("ccm fir", codec.fir), ("goog-remb", codec.remb),
        ("transport-cc", codec.transportCC),
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

extension NegotiationPolicy {
  func codecs(_ kind: MediaKind) -> [Codec] {
    kind == .video ? videoCodecs : Codec.allCases.filter { $0.kind == .audio }
  }

  /// By our preference; of one codec first what the most can decode.
  func ordered(_ codecs: [NegotiatedCodec]) -> [NegotiatedCodec] {
    let rank = { (codec: NegotiatedCodec) -> (Int, UInt8, Int) in
      let place = videoCodecs.firstIndex(of: codec.codec) ?? videoCodecs.count
      if let h265 = codec.format.h265 { return (place, h265.profile.rawValue, Int(h265.tier)) }
      guard let h264 = codec.format.h264 else { return (place, codec.format.profile, 0) }
      return (place, h264.profile.rawValue, h264.mode == 1 ? 0 : 1)
    }
    return codecs.enumerated().sorted {
      let (a, b) = (rank($0.element), rank($1.element))
      return a == b ? $0.offset < $1.offset : a < b
    }.map(\.element)
  }
}

extension RTPMapAttribute {
  /// What a payload type means without a word about it (RFC 3551 §6).
  init?(staticPayloadType number: UInt8) {
    guard let codec = Codec.allCases.first(where: { $0.staticPayloadType == number }) else { return nil }
    self.init(payloadType: number, encodingName: codec.encodingName, clockRate: codec.clockRate)
  }
}

extension NegotiatedCodec {
  /// The payload types that RED's parameters list (RFC 2198 §5); [255], which is none, where they can't be read or
  /// are more than anybody needs.
  var redBlocks: [UInt8] {
    guard formatParameters.utf8.count <= 128 else { return [255] }
    return formatParameters.split(separator: "/", omittingEmptySubsequences: false).map { UInt8($0) ?? 255 }
  }
}
