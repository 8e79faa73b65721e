public import Model

/// What of a description concerns ICE, as `application/trickle-ice-sdpfrag` carries it (RFC 8840 §9): new candidates, or the
/// credentials of a restart.
///
/// Attributes that are none of ICE's are checked for their form and dropped, as the grammar's extensions are.
public struct ICEFragment: Equatable, Sendable {
  public static let maximumBytes = 64 * 1_024
  /// Of all sections together; browsers gather some dozens.
  public static let maximumCandidates = 256

  public var isICELite: Bool
  public var iceOptions: [String]
  public var groups: [GroupAttribute]
  /// Of the session, for sections that have none of their own.
  public var iceUfrag: String?
  public var icePassword: String?
  public var sections: [ICEFragmentSection]

  public init(
    isICELite: Bool = false, iceOptions: [String] = [], groups: [GroupAttribute] = [],
    iceUfrag: String? = nil, icePassword: String? = nil, sections: [ICEFragmentSection] = []
  ) {
    self.isICELite = isICELite
    self.iceOptions = iceOptions
    self.groups = groups
    self.iceUfrag = iceUfrag
    self.icePassword = icePassword
    self.sections = sections
  }

  /// Those of the first section that has any, else the session's. One half without the other is nil.
  public var credentials: ICECredentials? {
    for section in sections where section.iceUfrag != nil || section.icePassword != nil {
      return Self.credentials(section.iceUfrag ?? iceUfrag, section.icePassword ?? icePassword)
    }
    return Self.credentials(iceUfrag, icePassword)
  }

  /// Whether there is anything of credentials in it.
  public var namesCredentials: Bool {
    iceUfrag != nil || icePassword != nil
      || sections.contains { $0.iceUfrag != nil || $0.icePassword != nil }
  }

  private static func credentials(_ ufrag: String?, _ password: String?) -> ICECredentials? {
    guard let ufrag, let password else { return nil }
    return ICECredentials(ufrag: ufrag, password: password)
  }
}

/// One of a fragment's `m=` lines with what belongs to it.
public struct ICEFragmentSection: Equatable, Sendable {
  /// The value of its `m=` line; only its first word counts.
  public var line: String
  /// Empty where it has none.
  public var mid: String
  public var iceUfrag: String?
  public var icePassword: String?
  public var candidates: [CandidateAttribute]
  /// No further candidate follows.
  public var endOfCandidates: Bool

  public init(
    line: String, mid: String, iceUfrag: String? = nil, icePassword: String? = nil,
    candidates: [CandidateAttribute] = [], endOfCandidates: Bool = false
  ) {
    self.line = line
    self.mid = mid
    self.iceUfrag = iceUfrag
    self.icePassword = icePassword
    self.candidates = candidates
    self.endOfCandidates = endOfCandidates
  }
}

extension ICEFragment {
  /// Reads the bytes of a body, at most `maximumBytes` of `a=` and `m=` lines that end in CRLF or LF.
  /// - Throws: also for a fragment that says nothing at all.
  public init(parsing bytes: [UInt8]) throws(SDPError) {
    guard bytes.count <= Self.maximumBytes else {
      throw .tooLong(bytes: bytes.count, limit: Self.maximumBytes)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    var lines = try SDPLines(text)
    self.init()
    var session = SharedAttributes()
    var section = SectionReading()
    var seen = SeenFields()
    var mids: Set<String> = []
    var candidates = 0
    guard !lines.lines.isEmpty else { throw .ended(line: 0, expected: "a= or m=") }
    while let line = lines.next() {
      switch line.type {
      case UInt8(ascii: "m"):
        try close(section, &mids)
        guard sections.count < SessionDescription.maximumSections else {
          throw .tooManySections(line: line.number, limit: SessionDescription.maximumSections)
        }
        _ = try MediaDescription(line)
        section = SectionReading(line: String(line.value), number: line.number)
        seen = SeenFields()
      case UInt8(ascii: "a"):
        let (name, value) = try line.attribute()
        if name == "candidate" {
          candidates += 1
          guard candidates <= Self.maximumCandidates else {
            throw .tooManyLines(limit: Self.maximumCandidates)
          }
          section.candidates.append(try line.value(of: name, value))
        } else if section.line == nil {
          try read(name, value, line, &seen, &session)
        } else {
          try section.read(name, value, line, &seen)
        }
      default:
        throw .unexpectedLine(line: line.number, found: line.label, expected: "a= or m=")
      }
    }
    try close(section, &mids)
    (iceUfrag, icePassword, iceOptions) = (session.iceUfrag, session.icePassword, session.iceOptions)
  }

  private mutating func read(
    _ name: String, _ value: Substring?, _ line: SDPLine, _ seen: inout SeenFields,
    _ session: inout SharedAttributes
  ) throws(SDPError) {
    if try session.read(name, value, line, &seen) { return }
    switch (name, value) {
    case ("group", _): groups.append(try line.value(of: name, value))
    case ("ice-lite", nil): isICELite = true
    default: break
    }
  }

  /// Takes a section whose lines have been read.
  private mutating func close(
    _ section: SectionReading, _ mids: inout Set<String>
  ) throws(SDPError) {
    guard let line = section.line else { return }
    // An offer of one section need not name it, and then its fragments can't either.
    let mid = section.mid ?? ""
    guard mids.insert(mid).inserted else { throw .duplicate(line: section.number, field: "a=mid:\(mid)") }
    sections.append(
      ICEFragmentSection(
        line: line, mid: mid, iceUfrag: section.shared.iceUfrag, icePassword: section.shared.icePassword,
        candidates: section.candidates, endOfCandidates: section.shared.endOfCandidates))
  }

  /// The fragment as it is sent, with CRLF; what is read from it again is equal to `self`.
  public var text: String {
    var text = ""
    func write(_ line: String) { text += line + "\r\n" }
    if isICELite { write("a=ice-lite") }
    if !iceOptions.isEmpty { write("a=ice-options:\(iceOptions.joined(separator: " "))") }
    for group in groups { write("a=group:\(group.value)") }
    if let iceUfrag { write("a=ice-ufrag:\(iceUfrag)") }
    if let icePassword { write("a=ice-pwd:\(icePassword)") }
    for section in sections {
      write("m=\(section.line)")
      if !section.mid.isEmpty { write("a=mid:\(section.mid)") }
      if let ufrag = section.iceUfrag { write("a=ice-ufrag:\(ufrag)") }
      if let password = section.icePassword { write("a=ice-pwd:\(password)") }
      for candidate in section.candidates { write("a=candidate:\(candidate.value)") }
      if section.endOfCandidates { write("a=end-of-candidates") }
    }
    return text
  }
}

/// A section while it is being read. Candidates that stand before the first `m=` line belong to none, and go with it.
private struct SectionReading {
  var line: String?
  var number = 0
  var mid: String?
  var shared = SharedAttributes()
  var candidates: [CandidateAttribute] = []

  mutating func read(
    _ name: String, _ value: Substring?, _ line: SDPLine, _ seen: inout SeenFields
  ) throws(SDPError) {
    if try shared.read(name, value, line, &seen) { return }
    guard name == "mid" else { return }
    try seen.once("a=mid", line)
    guard let value, value.isToken, value.utf8.count <= 255 else {
      throw .malformed(line: line.number, field: "a=mid", expected: "<token of at most 255 characters>")
    }
    mid = String(value)
  }
}
