/// Writes the fields of a record as JSON: members by their names, so that the same record has the same bytes, and a request's
/// id before all others.
struct FieldWriter: FieldCoder {
  typealias Failure = Never

  private var id: RequestID?
  private var members: [(name: String, json: [UInt8])] = []

  /// The JSON of a record.
  static func json<Value: Record>(_ value: Value) -> [UInt8] {
    var writer = FieldWriter()
    var value = value
    value.fields(&writer)
    return writer.finish()
  }

  /// The JSON of a message.
  static func json<Value: Message>(_ message: Value, id: RequestID?) -> String {
    var writer = FieldWriter()
    writer.id = id
    writer.put("type", quoted(Value.type))
    var message = message
    message.fields(&writer)
    return String(decoding: writer.finish(), as: UTF8.self)
  }

  /// The JSON of a message without fields.
  static func json(type: String, id: RequestID?) -> String {
    var writer = FieldWriter()
    writer.id = id
    writer.put("type", quoted(type))
    return String(decoding: writer.finish(), as: UTF8.self)
  }

  private mutating func finish() -> [UInt8] {
    members.sort { $0.name < $1.name }
    var json: [UInt8] = []
    json.reserveCapacity(members.reduce(80) { $0 + $1.name.utf8.count + $1.json.count + 4 })
    json.append(UInt8(ascii: "{"))
    if let id {
      json.append(contentsOf: #""id":"#.utf8)
      json.append(contentsOf: id.json.utf8)
    }
    for (name, value) in members {
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      json.append(UInt8(ascii: "\""))
      json.append(contentsOf: name.utf8)
      json.append(contentsOf: #"":"#.utf8)
      json.append(contentsOf: value)
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  private mutating func put(_ name: String, _ json: [UInt8]) { members.append((name, json)) }

  /// A JSON string (RFC 8259 §7), with the shortest escapes.
  static func quoted(_ text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { bytes in
      var json: [UInt8] = []
      json.reserveCapacity(bytes.count + 2)
      json.append(UInt8(ascii: "\""))
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
          json.append(UInt8(ascii: "\\"))
          json.append(byte)
        case 0x08: json.append(contentsOf: #"\b"#.utf8)
        case 0x09: json.append(contentsOf: #"\t"#.utf8)
        case 0x0A: json.append(contentsOf: #"\n"#.utf8)
        case 0x0C: json.append(contentsOf: #"\f"#.utf8)
        case 0x0D: json.append(contentsOf: #"\r"#.utf8)
        case ..<0x20:
          json.append(contentsOf: byte < 0x10 ? #"\u000"#.utf8 : #"\u001"#.utf8)
          json.append(contentsOf: String(byte & 15, radix: 16).utf8)
        default: json.append(byte)
        }
      }
      json.append(UInt8(ascii: "\""))
      return json
    }
  }

  private static func list(_ items: [[UInt8]]) -> [UInt8] {
    [UInt8(ascii: "[")] + Array(items.joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "]")]
  }

  // MARK: - Texts

  mutating func text(_ field: Field, _ value: inout String, _ bounds: TextBounds) {
    put(field.name, Self.quoted(value))
  }

  mutating func text(_ field: Field, _ value: inout String?, _ bounds: TextBounds) {
    if let value { put(field.name, Self.quoted(value)) }
  }

  mutating func nullableText(_ field: Field, _ value: inout String?, _ bounds: TextBounds) {
    put(field.name, value.map { Self.quoted($0) } ?? Array("null".utf8))
  }

  mutating func texts(_ field: Field, _ value: inout [String], _ bounds: ListBounds) {
    put(field.name, Self.list(value.map { Self.quoted($0) }))
  }

  mutating func texts(_ field: Field, _ value: inout [String]?, _ bounds: ListBounds) {
    if let value { put(field.name, Self.list(value.map { Self.quoted($0) })) }
  }

  mutating func attributes(_ field: Field, _ value: inout [String: String]) {
    let pairs = value.sorted { $0.key < $1.key }.map {
      Self.quoted($0.key) + [UInt8(ascii: ":")] + Self.quoted($0.value)
    }
    put(
      field.name,
      [UInt8(ascii: "{")] + Array(pairs.joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "}")])
  }

  mutating func attributes(_ field: Field, _ value: inout [String: String]?) {
    if var pairs = value { attributes(field, &pairs) }
  }

  mutating func bytes(_ field: Field, _ value: inout [UInt8], limit: Int?) {
    put(field.name, [UInt8(ascii: "\"")] + Base64.encode(value) + [UInt8(ascii: "\"")])
  }

  // MARK: - Flags, numbers and words

  mutating func flag(_ field: Field, _ value: inout Bool) {
    put(field.name, Array((value ? "true" : "false").utf8))
  }

  mutating func flag(_ field: Field, _ value: inout Bool, or fallback: Bool) { flag(field, &value) }

  mutating func integer(_ field: Field, _ value: inout Int, _ bounds: ClosedRange<Int>) {
    put(field.name, Array(String(value).utf8))
  }

  mutating func integer(_ field: Field, _ value: inout Int?, _ bounds: ClosedRange<Int>) {
    if var value { integer(field, &value, bounds) }
  }

  mutating func share(_ field: Field, _ value: inout Double) {
    // JSON has no numbers but finite ones.
    let text = value.isFinite ? value.description : "0"
    put(field.name, Array((text.hasSuffix(".0") ? String(text.dropLast(2)) : text).utf8))
  }

  mutating func number(_ field: Field, _ value: inout Double?) {
    if var value { share(field, &value) }
  }

  mutating func word<Value: Word>(_ field: Field, _ value: inout Value) {
    put(field.name, Self.quoted(value.rawValue))
  }

  mutating func word<Value: Word>(_ field: Field, _ value: inout Value?) {
    if let value { put(field.name, Self.quoted(value.rawValue)) }
  }

  mutating func words<Value: Word>(_ field: Field, _ value: inout [Value]?) {
    if let value { put(field.name, Self.list(value.map { Self.quoted($0.rawValue) })) }
  }

  // MARK: - Records

  mutating func record<Value: Record>(_ field: Field, _ value: inout Value) {
    put(field.name, Self.json(value))
  }

  mutating func record<Value: Record>(_ field: Field, _ value: inout Value?) {
    if let value { put(field.name, Self.json(value)) }
  }

  mutating func records<Value: Record>(_ field: Field, _ value: inout [Value], _ bounds: ListBounds) {
    put(field.name, Self.list(value.map { Self.json($0) }))
  }

  mutating func records<Value: Record>(_ field: Field, _ value: inout [Value]?, _ bounds: ListBounds) {
    if var value { records(field, &value, bounds) }
  }

  mutating func records<Value: Record>(
    _ field: Field, _ value: inout [Written<Value>], _ bounds: ListBounds
  ) {
    var json: [UInt8] = []
    json.append(UInt8(ascii: "["))
    for (index, item) in value.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      switch item {
      case .value(let value): json.append(contentsOf: Self.json(value))
      case .json(let text): json.append(contentsOf: text.utf8)
      }
    }
    json.append(UInt8(ascii: "]"))
    put(field.name, json)
  }

  mutating func choice<Value: RecordChoice>(_ field: Field, _ value: inout Value?) {
    if let first = value?.first { put(field.name, Self.json(first)) }
    if let second = value?.second { put(field.name, Self.json(second)) }
  }

  mutating func opaque(_ field: Field, _ value: inout OpaqueJSON, limit: Int?) {
    put(field.name, value.bytes)
  }

  mutating func requestID(_ value: inout RequestID?) { id = value }
  mutating func unread(_ field: Field) {}
  mutating func require(_ name: String, _ expected: String, _ isMet: @autoclosure () -> Bool) {}
}

extension Record {
  /// Its JSON, by which it goes into messages that many get.
  public var json: String { String(decoding: FieldWriter.json(self), as: UTF8.self) }
}
