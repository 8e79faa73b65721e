/// The members of one JSON object, found but not read: each is decoded when it is asked for, within the bound that is
/// given with the question, so that what is not asked for costs nothing but its bytes.
struct JSONFields {
  /// Members of one object, including those that are never asked for.
  static let maximumMembers = 64

  /// The object's text; ranges are in it.
  private let bytes: UnsafeBufferPointer<UInt8>
  private let members: [(name: Range<Int>, value: Range<Int>)]

  /// - Returns: nil for what is no object, has a member twice or more of them than anybody needs.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    var scanner = JSONScanner(bytes)
    guard let found = Self.members(&scanner) else { return nil }
    scanner.skipSpace()
    guard scanner.isAtEnd else { return nil }
    self.bytes = bytes
    members = found
  }

  private static func members(_ scanner: inout JSONScanner) -> [(name: Range<Int>, value: Range<Int>)]? {
    scanner.skipSpace()
    guard scanner.take(UInt8(ascii: "{")) else { return nil }
    var found: [(name: Range<Int>, value: Range<Int>)] = []
    scanner.skipSpace()
    if scanner.take(UInt8(ascii: "}")) { return found }
    while found.count < maximumMembers {
      scanner.skipSpace()
      let start = scanner.position
      guard scanner.current == UInt8(ascii: "\""), scanner.string() else { return nil }
      let name = start + 1..<scanner.position - 1
      scanner.skipSpace()
      guard scanner.take(UInt8(ascii: ":")), let value = scanner.value() else { return nil }
      let isRepeated = found.contains { other in
        other.name.count == name.count
          && zip(other.name, name).allSatisfy { scanner.bytes[$0] == scanner.bytes[$1] }
      }
      guard !isRepeated else { return nil }
      found.append((name, value))
      scanner.skipSpace()
      if scanner.take(UInt8(ascii: "}")) { return found }
      guard scanner.take(UInt8(ascii: ",")) else { return nil }
    }
    return nil
  }

  /// What stands there; nil for what is absent or null.
  func value(_ name: String) -> JSONValue? {
    guard let place = place(of: name) else { return nil }
    let value = JSONValue(UnsafeBufferPointer(rebasing: bytes[place]))
    return value.isNull ? nil : value
  }

  /// Where a member's value stands; nil: it is absent.
  func place(of name: String) -> Range<Int>? {
    let wanted = name.utf8
    return members.first { member in
      member.name.count == wanted.count && zip(member.name, wanted).allSatisfy { bytes[$0] == $1 }
    }?.value
  }

  var isEmpty: Bool { members.isEmpty }
}
