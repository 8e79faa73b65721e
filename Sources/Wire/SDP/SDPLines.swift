/// One line of a description: `<type>=<value>`.
struct SDPLine {
  /// From 1.
  var number: Int
  var type: UInt8
  var value: Substring

  /// As error messages name it.
  var label: String { String(UnicodeScalar(type)) + "=" }

  /// Name and value of an `a=` line, without the spaces that some write behind it: Pion ends `a=rtcp-fb:96 nack ` with one, for a
  /// parameter that is empty.
  func attribute() throws(SDPError) -> (name: String, value: Substring?) {
    let (name, value) = value.withoutSpacesBehind.halves(at: 0x3A)
    guard name.isToken else {
      throw .malformed(line: number, field: "a=", expected: "<name> or <name>:<value>")
    }
    return (String(name), value)
  }
}

/// Cuts a text into lines and holds it to the limits of size.
struct SDPLines {
  private(set) var lines: [SDPLine] = []
  private var position = 0

  /// Lines end in CRLF or in LF; empty ones are tolerated at the end alone.
  init(_ text: String) throws(SDPError) {
    var text = text
    text.makeContiguousUTF8()
    guard text.utf8.count <= SessionDescription.maximumBytes else {
      throw .tooLong(bytes: text.utf8.count, limit: SessionDescription.maximumBytes)
    }
    var rest = text[...].utf8
    var number = 0
    var firstEmpty: Int?
    while !rest.isEmpty {
      number += 1
      guard number <= SessionDescription.maximumLines else {
        throw .tooManyLines(limit: SessionDescription.maximumLines)
      }
      var line = rest.prefix { $0 != 0x0A }
      rest = rest[line.endIndex...].dropFirst()
      if line.last == 0x0D { line.removeLast() }
      if line.isEmpty {
        firstEmpty = firstEmpty ?? number
        continue
      }
      if let firstEmpty {
        throw .unexpectedLine(line: firstEmpty, found: "an empty line", expected: "<letter>=<value>")
      }
      lines.append(try Self.line(line, number: number))
    }
  }

  private static func line(_ line: Substring.UTF8View, number: Int) throws(SDPError) -> SDPLine {
    guard line.count <= SessionDescription.maximumLineBytes else {
      throw .lineTooLong(line: number, bytes: line.count, limit: SessionDescription.maximumLineBytes)
    }
    if let control = line.first(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
      throw .controlCharacter(line: number, byte: control)
    }
    guard let type = line.first, (0x61...0x7A).contains(type), line.dropFirst().first == 0x3D else {
      let start = String(Substring(line.prefix(16)))
      throw .unexpectedLine(line: number, found: "\"\(start)\"", expected: "<letter>=<value>")
    }
    return SDPLine(number: number, type: type, value: Substring(line.dropFirst(2)))
  }

  /// The number of the last line.
  var lastNumber: Int { lines.last?.number ?? 0 }

  /// Takes the next line, if there is one.
  mutating func next() -> SDPLine? {
    guard position < lines.count else { return nil }
    defer { position += 1 }
    return lines[position]
  }

  /// Takes the next line, which has to be of this type.
  mutating func next(_ type: Character, _ meaning: String) throws(SDPError) -> SDPLine {
    let expected = "\(type)= (\(meaning))"
    guard let line = next() else { throw .ended(line: lastNumber, expected: expected) }
    guard line.type == type.asciiValue else {
      throw .unexpectedLine(line: line.number, found: line.label, expected: expected)
    }
    return line
  }
}
