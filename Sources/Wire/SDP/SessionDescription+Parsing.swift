extension SessionDescription {
  /// Reads a description as browsers write it, strict about what it knows and silent about what it doesn't.
  ///
  /// - Parameter text: at most `maximumBytes` in `maximumLines` lines, ending in CRLF or LF.
  public init(parsing text: String) throws(SDPError) {
    var lines = try SDPLines(text)
    let version = try lines.next("v", "protocol version")
    guard version.value == "0" else { throw .malformed(line: version.number, field: "v=", expected: "0") }
    self.init(origin: try SessionOrigin(lines.next("o", "origin")), times: [])
    name = String(try lines.next("s", "session name").value)

    var mids: Set<String> = []
    var seen = SeenFields()
    while let line = lines.next() {
      guard line.type != UInt8(ascii: "m") else {
        guard !times.isEmpty else {
          throw .unexpectedLine(line: line.number, found: "m=", expected: "t= (time, as \"t=0 0\") before it")
        }
        guard media.count < Self.maximumSections else {
          throw .tooManySections(line: line.number, limit: Self.maximumSections)
        }
        media.append(try MediaDescription(line))
        seen = SeenFields()
        continue
      }
      if media.isEmpty {
        try read(line, &seen)
      } else {
        try media[media.count - 1].read(line, &seen, &mids)
      }
    }
    guard !times.isEmpty else {
      throw .ended(line: lines.lastNumber, expected: "t= (time, as \"t=0 0\")")
    }
  }

  /// Reads the bytes of a body or message.
  public init(parsing bytes: [UInt8]) throws(SDPError) {
    guard bytes.count <= Self.maximumBytes else {
      throw .tooLong(bytes: bytes.count, limit: Self.maximumBytes)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    try self.init(parsing: text)
  }

  private mutating func read(_ line: SDPLine, _ seen: inout SeenFields) throws(SDPError) {
    switch line.type {
    case UInt8(ascii: "c"):
      try seen.once("c=", line)
      connection = try ConnectionAddress(line)
    case UInt8(ascii: "b"): bandwidths.append(try Bandwidth(line))
    case UInt8(ascii: "t"): times.append(try SessionTime(line))
    case UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "e"), UInt8(ascii: "p"), UInt8(ascii: "r"),
      UInt8(ascii: "z"), UInt8(ascii: "k"):
      break
    case UInt8(ascii: "a"):
      let (name, value) = try line.attribute()
      if try shared.read(name, value, line, &seen) { return }
      switch (name, value) {
      case ("group", _): groups.append(try line.value(of: name, value))
      case ("ice-lite", nil): isICELite = true
      default: others.append(OtherAttribute(name: name, value: value.map { String($0) }))
      }
    default:
      throw .unexpectedLine(line: line.number, found: line.label, expected: "a line of the session or m=")
    }
  }
}

/// Which fields of a level were read, to catch those that may stand only once.
struct SeenFields {
  private var names: Set<String> = []

  mutating func once(_ name: String, _ line: SDPLine) throws(SDPError) {
    guard names.insert(name).inserted else { throw .duplicate(line: line.number, field: name) }
  }
}

extension SDPLine {
  /// The value of an attribute, read by its grammar.
  func value<T: SDPValue>(of name: String, _ value: Substring?) throws(SDPError) -> T {
    guard let value, let result = T(value: value) else {
      throw .malformed(line: number, field: "a=\(name)", expected: T.grammar)
    }
    return result
  }

  func number<T: FixedWidthInteger & UnsignedInteger>(of name: String, _ value: Substring?) throws(SDPError)
    -> T
  {
    guard let result = value?.decimal(T.self) else {
      throw .malformed(line: number, field: "a=\(name)", expected: "<number up to \(T.max)>")
    }
    return result
  }
}

extension SharedAttributes {
  /// Reads an attribute that may stand at either level.
  /// - Returns: false if it is none of these.
  mutating func read(
    _ name: String, _ value: Substring?, _ line: SDPLine, _ seen: inout SeenFields
  ) throws(SDPError) -> Bool {
    switch (name, value) {
    case ("ice-ufrag", _):
      try seen.once("a=ice-ufrag", line)
      iceUfrag = try Self.iceText(name, value, line, 4...256)
    case ("ice-pwd", _):
      try seen.once("a=ice-pwd", line)
      icePassword = try Self.iceText(name, value, line, 22...256)
    case ("ice-options", let value?):
      var fields = SDPFields(value)
      while let option = fields.next() { iceOptions.append(String(option)) }
    case ("fingerprint", _): fingerprints.append(try line.value(of: name, value))
    case ("setup", _):
      try seen.once("a=setup", line)
      guard let known = SetupAttribute(rawValue: String(value ?? "")) else {
        throw .malformed(
          line: line.number, field: "a=setup", expected: "active, passive, actpass or holdconn")
      }
      setup = known
    case ("sendrecv", nil), ("sendonly", nil), ("recvonly", nil), ("inactive", nil):
      try seen.once("a direction", line)
      direction = MediaDirection(rawValue: name)
    case ("extmap", _):
      let item: ExtensionAttribute = try line.value(of: name, value)
      try seen.once("a=extmap:\(item.id)", line)
      extensions.append(item)
    case ("extmap-allow-mixed", nil): allowsMixedExtensions = true
    case ("end-of-candidates", nil): endOfCandidates = true
    default: return false
    }
    return true
  }

  private static func iceText(
    _ name: String, _ value: Substring?, _ line: SDPLine, _ length: ClosedRange<Int>
  ) throws(SDPError) -> String {
    guard let value, value.isICEText(length) else {
      throw .malformed(
        line: line.number, field: "a=\(name)",
        expected: "<\(length.lowerBound)–\(length.upperBound) characters of A–Z a–z 0–9 + />")
    }
    return String(value)
  }
}

extension SessionOrigin {
  init(_ line: SDPLine) throws(SDPError) {
    var fields = SDPFields(line.value)
    guard let username = fields.next(), let sessionID = fields.nextNumber(UInt64.self),
      let version = fields.nextNumber(UInt64.self), let address = ConnectionAddress(&fields)
    else {
      throw .malformed(
        line: line.number, field: "o=",
        expected: "<username> <session id> <version> IN IP4|IP6 <address>, the numbers below 2^64")
    }
    self.init(username: String(username), sessionID: sessionID, version: version, address: address)
  }
}

extension ConnectionAddress {
  init(_ line: SDPLine) throws(SDPError) {
    var fields = SDPFields(line.value)
    guard let address = ConnectionAddress(&fields) else {
      throw .malformed(line: line.number, field: "c=", expected: "IN IP4|IP6 <address>")
    }
    self = address
  }

  fileprivate init?(_ fields: inout SDPFields) {
    guard fields.next() == "IN", let family = fields.next().flatMap({ Family(rawValue: String($0)) }),
      let host = fields.next(), fields.isAtEnd
    else { return nil }
    self.init(family: family, host: String(host))
  }
}

extension Bandwidth {
  init(_ line: SDPLine) throws(SDPError) {
    let (type, value) = line.value.halves(at: 0x3A)
    guard type.isToken, let value = value?.decimal(UInt64.self) else {
      throw .malformed(line: line.number, field: "b=", expected: "<type>:<number>")
    }
    self.init(type: String(type), value: value)
  }
}

extension SessionTime {
  init(_ line: SDPLine) throws(SDPError) {
    var fields = SDPFields(line.value)
    guard let start = fields.nextNumber(UInt64.self), let stop = fields.nextNumber(UInt64.self),
      fields.isAtEnd
    else { throw .malformed(line: line.number, field: "t=", expected: "<start> <stop>") }
    self.init(start: start, stop: stop)
  }
}

extension GroupAttribute: SDPValue {
  static var grammar: String { "<semantics> <mid> …" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let semantics = fields.next(), semantics.isToken else { return nil }
    var mids: [String] = []
    while let mid = fields.next() {
      guard mid.isToken else { return nil }
      mids.append(String(mid))
    }
    self.init(semantics: String(semantics), mids: mids)
  }

  var value: String { ([semantics] + mids).joined(separator: " ") }
}
