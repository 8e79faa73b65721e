extension MediaDescription {
  /// Reads an `m=` line.
  init(_ line: SDPLine) throws(SDPError) {
    var fields = SDPFields(line.value)
    guard let media = fields.next(), media.isToken, let port = fields.nextNumber(UInt16.self),
      let protocolName = fields.next(), protocolName.parts(at: 0x2F).allSatisfy(\.isToken)
    else {
      throw .malformed(
        line: line.number, field: "m=", expected: "<media> <port below 65536> <protocol> <format> …")
    }
    var formats: [String] = []
    while let format = fields.next() {
      guard format.isToken else {
        throw .malformed(line: line.number, field: "m=", expected: "formats that are tokens")
      }
      formats.append(String(format))
    }
    self.init(media: String(media), port: port, protocolName: String(protocolName), formats: formats)
    guard !formats.isEmpty else {
      throw .malformed(line: line.number, field: "m=", expected: "at least one format")
    }
    guard isRTP else { return }

    var seen: Set<UInt8> = []
    for format in formats {
      guard let payloadType = format[...].decimal(UInt8.self), payloadType < 128 else {
        throw .malformed(line: line.number, field: "m=", expected: "payload types from 0 to 127")
      }
      guard seen.insert(payloadType).inserted else {
        throw .duplicate(line: line.number, field: "payload type \(payloadType)")
      }
    }
    self.formats = formats.map { "\($0[...].decimal(UInt8.self) ?? 0)" }
  }

  /// Reads a line below `m=`.
  /// - Parameter mids: those of all sections, none of which may come twice.
  mutating func read(_ line: SDPLine, _ seen: inout SeenFields, _ mids: inout Set<String>) throws(SDPError) {
    switch line.type {
    case UInt8(ascii: "c"):
      try seen.once("c=", line)
      connection = try ConnectionAddress(line)
    case UInt8(ascii: "b"): bandwidths.append(try Bandwidth(line))
    case UInt8(ascii: "i"), UInt8(ascii: "k"): break
    case UInt8(ascii: "a"):
      let (name, value) = try line.attribute()
      if try shared.read(name, value, line, &seen) { return }
      if try readTransport(name, value, line, &seen, &mids) { return }
      if isRTP, try readRTP(name, value, line, &seen) { return }
      others.append(OtherAttribute(name: name, value: value.map { String($0) }))
    default:
      throw .unexpectedLine(
        line: line.number, found: line.label, expected: "a=, another line of the section or m=")
    }
  }

  /// Attributes of sections of any protocol.
  private mutating func readTransport(
    _ name: String, _ value: Substring?, _ line: SDPLine, _ seen: inout SeenFields, _ mids: inout Set<String>
  ) throws(SDPError) -> Bool {
    switch (name, value) {
    case ("mid", _):
      try seen.once("a=mid", line)
      guard let value, value.isToken, value.utf8.count <= 255 else {
        throw .malformed(line: line.number, field: "a=mid", expected: "<token of at most 255 characters>")
      }
      guard mids.insert(String(value)).inserted else {
        throw .duplicate(line: line.number, field: "a=mid:\(value)")
      }
      mid = String(value)
    case ("candidate", _): candidates.append(try line.value(of: name, value))
    case ("bundle-only", nil): isBundleOnly = true
    case ("sctp-port", _):
      try seen.once("a=sctp-port", line)
      sctpPort = try line.number(of: name, value)
    case ("max-message-size", _):
      try seen.once("a=max-message-size", line)
      maximumMessageSize = try line.number(of: name, value)
    default: return false
    }
    return true
  }

  /// Attributes that have a meaning in RTP sections only.
  private mutating func readRTP(
    _ name: String, _ value: Substring?, _ line: SDPLine, _ seen: inout SeenFields
  ) throws(SDPError) -> Bool {
    switch (name, value) {
    case ("rtcp-mux", nil): rtcpMux = true
    case ("rtcp-rsize", nil): rtcpReducedSize = true
    case ("msid", _): streams.append(try line.value(of: name, value))
    case ("rtpmap", _):
      let map: RTPMapAttribute = try line.value(of: name, value)
      try seen.once("a=rtpmap:\(map.payloadType)", line)
      rtpMaps.append(map)
    case ("rtcp-fb", _): feedback.append(try line.value(of: name, value))
    case ("fmtp", _): formatParameters.append(try line.value(of: name, value))
    case ("ssrc", _): ssrcs.append(try line.value(of: name, value))
    case ("ssrc-group", _): ssrcGroups.append(try line.value(of: name, value))
    case ("rid", _):
      let rid: RIDAttribute = try line.value(of: name, value)
      try seen.once("a=rid:\(rid.rid)", line)
      rids.append(rid)
    case ("simulcast", _):
      try seen.once("a=simulcast", line)
      simulcast = try line.value(of: name, value)
    default: return false
    }
    return true
  }
}
