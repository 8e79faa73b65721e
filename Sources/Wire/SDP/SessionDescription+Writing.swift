extension SessionDescription {
  /// The description as it is sent: CRLF, in the order of RFC 8866 §5, attributes always in the same order.
  ///
  /// What is read from it again is equal to `self`.
  public var text: String {
    var lines = SDPWriter()
    lines.line("v", "0")
    lines.line("o", "\(origin.username) \(origin.sessionID) \(origin.version) \(origin.address.text)")
    lines.line("s", name)
    if let connection { lines.line("c", connection.text) }
    for bandwidth in bandwidths { lines.line("b", "\(bandwidth.type):\(bandwidth.value)") }
    for time in times { lines.line("t", "\(time.start) \(time.stop)") }
    lines.attributes("group", groups)
    lines.flag("ice-lite", isICELite)
    lines.write(shared)
    lines.write(others)
    for section in media { lines.write(section) }
    return lines.text
  }
}

/// Collects lines.
private struct SDPWriter {
  private(set) var text = ""

  mutating func line(_ type: String, _ value: String) { text += "\(type)=\(value)\r\n" }

  mutating func flag(_ name: String, _ isSet: Bool) {
    if isSet { line("a", name) }
  }
  mutating func attribute(_ name: String, _ value: String?) {
    if let value { line("a", "\(name):\(value)") }
  }
  mutating func attributes(_ name: String, _ values: [some SDPValue]) {
    for value in values { attribute(name, value.value) }
  }

  mutating func write(_ shared: SharedAttributes) {
    attribute("ice-ufrag", shared.iceUfrag)
    attribute("ice-pwd", shared.icePassword)
    attribute("ice-options", shared.iceOptions.isEmpty ? nil : shared.iceOptions.joined(separator: " "))
    attributes("fingerprint", shared.fingerprints)
    attribute("setup", shared.setup?.rawValue)
    attributes("extmap", shared.extensions)
    flag("extmap-allow-mixed", shared.allowsMixedExtensions)
    if let direction = shared.direction { flag(direction.rawValue, true) }
    flag("end-of-candidates", shared.endOfCandidates)
  }

  mutating func write(_ others: [OtherAttribute]) {
    for other in others {
      if let value = other.value { attribute(other.name, value) } else { flag(other.name, true) }
    }
  }

  mutating func write(_ section: MediaDescription) {
    let formats = section.formats.joined(separator: " ")
    line("m", "\(section.media) \(section.port) \(section.protocolName) \(formats)")
    if let connection = section.connection { line("c", connection.text) }
    for bandwidth in section.bandwidths { line("b", "\(bandwidth.type):\(bandwidth.value)") }
    attributes("candidate", section.candidates)
    attribute("mid", section.mid)
    flag("bundle-only", section.isBundleOnly)
    write(section.shared)
    attributes("msid", section.streams)
    flag("rtcp-mux", section.rtcpMux)
    flag("rtcp-rsize", section.rtcpReducedSize)
    attributes("rtpmap", section.rtpMaps)
    attributes("rtcp-fb", section.feedback)
    attributes("fmtp", section.formatParameters)
    attributes("rid", section.rids)
    attribute("simulcast", section.simulcast?.value)
    attributes("ssrc-group", section.ssrcGroups)
    attributes("ssrc", section.ssrcs)
    attribute("sctp-port", section.sctpPort.map { "\($0)" })
    attribute("max-message-size", section.maximumMessageSize.map { "\($0)" })
    write(section.others)
  }
}

extension ConnectionAddress {
  fileprivate var text: String { "IN \(family.rawValue) \(host)" }
}
