internal import AccessTokens
internal import Model

/// Reads the fields of a record from JSON, each within its bound, and says of the first that is wrong what is wrong with it.
struct FieldReader: FieldCoder {
  typealias Failure = MessageError

  private let fields: JSONFields
  /// As in `tracks.`, for what is said about fields of an inner object.
  private let prefix: String
  let id: RequestID?

  init(_ fields: JSONFields, prefix: String = "", id: RequestID?) {
    self.fields = fields
    self.prefix = prefix
    self.id = id
  }

  mutating func read<Value: Record>() throws(MessageError) -> Value {
    var value = Value()
    try value.fields(&self)
    return value
  }

  private func wrong(_ name: String, _ problem: MessageError.FieldProblem) -> MessageError {
    .field(prefix + name, problem, id: id)
  }

  private func value(_ field: Field) throws(MessageError) -> JSONValue {
    guard let value = fields.value(field.name) else { throw wrong(field.name, .missing) }
    return value
  }

  // MARK: - Texts

  mutating func text(_ field: Field, _ value: inout String?, _ bounds: TextBounds) throws(MessageError) {
    guard let found = fields.value(field.name) else {
      value = nil
      return
    }
    switch found.text(limit: bounds.limit) {
    case .tooLong: throw wrong(field.name, .tooLong(bounds.limit))
    case .tooManyMarks:
      throw wrong(
        field.name, .expected("a string with at most \(CombiningMarks.limit) combining marks in a row"))
    case .none: throw wrong(field.name, .expected("a string"))
    case .text(let text):
      if let expected = bounds.expected, text.isEmpty { throw wrong(field.name, .expected(expected)) }
      if bounds.isName, !AccessToken.isText(text) {
        throw wrong(field.name, .expected("a text of 1 to 128 bytes without control characters"))
      }
      value = text
    }
  }

  mutating func text(_ field: Field, _ value: inout String, _ bounds: TextBounds) throws(MessageError) {
    var found: String?
    try text(field, &found, bounds)
    guard let found else { throw wrong(field.name, .missing) }
    value = found
  }

  mutating func nullableText(
    _ field: Field, _ value: inout String?, _ bounds: TextBounds
  ) throws(MessageError) { try text(field, &value, bounds) }

  mutating func texts(
    _ field: Field, _ value: inout [String], _ bounds: ListBounds
  ) throws(MessageError) {
    var found: [String]?
    try texts(field, &found, bounds)
    guard let found else { throw wrong(field.name, .missing) }
    value = found
  }

  mutating func texts(
    _ field: Field, _ value: inout [String]?, _ bounds: ListBounds
  ) throws(MessageError) {
    guard let items = try items(field, bounds) else {
      value = nil
      return
    }
    var texts: [String] = []
    for item in items {
      switch item.text(limit: bounds.isOptional ? 128 : .max) {
      case .text(let text): texts.append(text)
      case .tooLong: throw wrong(field.name, .expected("\(bounds.expected) of at most 128 bytes"))
      case .tooManyMarks, .none: throw wrong(field.name, .expected(bounds.expected))
      }
    }
    value = texts
  }

  private func items(_ field: Field, _ bounds: ListBounds) throws(MessageError) -> [JSONValue]? {
    guard let found = fields.value(field.name) else { return nil }
    switch found.items(limit: bounds.limit) {
    case .items(let items): return items
    case .tooMany: throw wrong(field.name, .tooLong(bounds.limit))
    case .none: throw wrong(field.name, .expected(bounds.expected))
    }
  }

  mutating func attributes(
    _ field: Field, _ value: inout [String: String]?
  ) throws(MessageError) {
    guard let found = fields.value(field.name) else {
      value = nil
      return
    }
    switch found.pairs(limit: ClientMessage.maximumAttributes, bytes: ClientMessage.maximumAttributeBytes) {
    case .pairs(let pairs): value = pairs
    case .tooMany: throw wrong(field.name, .tooLong(ClientMessage.maximumAttributes))
    case .none: throw wrong(field.name, .expected("an object of strings"))
    }
  }

  mutating func attributes(_ field: Field, _ value: inout [String: String]) throws(MessageError) {
    var found: [String: String]?
    try attributes(field, &found)
    guard let found else { throw wrong(field.name, .missing) }
    value = found
  }

  mutating func bytes(_ field: Field, _ value: inout [UInt8], limit: Int?) throws(MessageError) {
    var found = ""
    try text(field, &found, limit.map { .unstated($0) } ?? .any)
    guard let bytes = Base64.decode(found) else { throw wrong(field.name, .expected("base64")) }
    value = bytes
  }

  // MARK: - Flags, numbers and words

  mutating func flag(_ field: Field, _ value: inout Bool) throws(MessageError) {
    guard let flag = try self.value(field).boolean else {
      throw wrong(field.name, .expected("true or false"))
    }
    value = flag
  }

  mutating func flag(_ field: Field, _ value: inout Bool, or fallback: Bool) throws(MessageError) {
    guard fields.value(field.name) != nil else {
      value = fallback
      return
    }
    try flag(field, &value)
  }

  mutating func integer(
    _ field: Field, _ value: inout Int, _ bounds: ClosedRange<Int>
  ) throws(MessageError) {
    guard let number = try self.value(field).integer, bounds.contains(number) else {
      let last = bounds.upperBound < .max ? " to \(bounds.upperBound)" : ""
      throw wrong(field.name, .expected("a whole number from \(bounds.lowerBound)\(last)"))
    }
    value = number
  }

  mutating func integer(
    _ field: Field, _ value: inout Int?, _ bounds: ClosedRange<Int>
  ) throws(MessageError) {
    value = nil
    guard let found = fields.value(field.name), !found.isNull else { return }
    var number = 0
    try integer(field, &number, bounds)
    value = number
  }

  mutating func share(_ field: Field, _ value: inout Double) throws(MessageError) {
    guard let number = try self.value(field).number, (0...1).contains(number) else {
      throw wrong(field.name, .expected("a number from 0 to 1"))
    }
    value = number
  }

  mutating func number(_ field: Field, _ value: inout Double?) throws(MessageError) {
    value = nil
    guard let found = fields.value(field.name), !found.isNull else { return }
    guard let number = found.number, number >= 0 else {
      throw wrong(field.name, .expected("a number of 0 or more"))
    }
    value = number
  }

  private func word<Value: Word>(_ name: String, _ text: String) throws(MessageError) -> Value {
    guard let word = Value(rawValue: text) else {
      let all = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw wrong(name, .expected("one of \(all)"))
    }
    return word
  }

  mutating func word<Value: Word>(_ field: Field, _ value: inout Value) throws(MessageError) {
    var found = ""
    try text(field, &found, .unstated(64))
    value = try word(field.name, found)
  }

  mutating func word<Value: Word>(_ field: Field, _ value: inout Value?) throws(MessageError) {
    var found: String?
    try text(field, &found, .unstated(64))
    value = if let found { try word(field.name, found) } else { nil }
  }

  mutating func words<Value: Word>(_ field: Field, _ value: inout [Value]?) throws(MessageError) {
    var found: [String]?
    try texts(field, &found, .words(Value.allCases.count))
    guard let found else {
      value = nil
      return
    }
    var words: [Value] = []
    for text in found { words.append(try word(field.name, text)) }
    value = words
  }

  // MARK: - Records

  private func inner(_ name: String, _ value: JSONValue, _ expected: String) throws(MessageError)
    -> FieldReader
  {
    guard let fields = value.fields else { throw wrong(name, .expected(expected)) }
    return FieldReader(fields, prefix: "\(prefix)\(name).", id: id)
  }

  mutating func record<Value: Record>(_ field: Field, _ value: inout Value) throws(MessageError) {
    var inner = try inner(field.name, try self.value(field), "an object")
    value = try inner.read()
  }

  mutating func record<Value: Record>(_ field: Field, _ value: inout Value?) throws(MessageError) {
    guard let found = fields.value(field.name) else {
      value = nil
      return
    }
    var inner = try inner(field.name, found, "an object")
    value = try inner.read() as Value
  }

  mutating func records<Value: Record>(
    _ field: Field, _ value: inout [Value], _ bounds: ListBounds
  ) throws(MessageError) {
    guard let items = try items(field, bounds) else {
      guard bounds.isOptional else { throw wrong(field.name, .missing) }
      value = []
      return
    }
    value = []
    for item in items {
      var inner = try inner(field.name, item, "a list of objects")
      value.append(try inner.read())
    }
  }

  mutating func records<Value: Record>(
    _ field: Field, _ value: inout [Value]?, _ bounds: ListBounds
  ) throws(MessageError) {
    guard fields.value(field.name) != nil else {
      value = nil
      return
    }
    var list: [Value] = []
    try records(field, &list, bounds)
    value = list
  }

  mutating func records<Value: Record>(
    _ field: Field, _ value: inout [Written<Value>], _ bounds: ListBounds
  ) throws(MessageError) {
    var found: [Value] = []
    try records(field, &found, bounds)
    value = found.map { .value($0) }
  }

  mutating func choice<Value: RecordChoice>(_ field: Field, _ value: inout Value?) throws(MessageError) {
    guard let found = fields.value(field.name) else {
      value = nil
      return
    }
    var inner = try inner(field.name, found, "an object")
    value =
      inner.fields.value(Value.mark) == nil
      ? Value(second: try inner.read()) : Value(first: try inner.read())
  }

  mutating func opaque(_ field: Field, _ value: inout OpaqueJSON, limit: Int?) throws(MessageError) {
    value = .null
    guard let found = fields.value(field.name) else { return }
    if let limit, found.bytes.count > limit { throw wrong(field.name, .tooLong(limit)) }
    guard let sound = OpaqueJSON(Array(found.bytes)) else {
      throw wrong(
        field.name,
        .expected(
          "JSON of whole characters and finite numbers, \(OpaqueJSON.maximumDepth) levels deep at most")
      )
    }
    value = sound
  }

  // MARK: - Rules

  mutating func requestID(_ value: inout RequestID?) throws(MessageError) {
    guard let found = fields.value("id") else {
      value = nil
      return
    }
    guard let id = RequestID(found) else { throw wrong("id", .expected(RequestID.expected)) }
    value = id
  }

  mutating func unread(_ field: Field) {}

  mutating func require(
    _ name: String, _ expected: String, _ isMet: @autoclosure () -> Bool
  ) throws(MessageError) {
    if !isMet() { throw wrong(name, .expected(expected)) }
  }
}

extension FieldReader {
  /// What stands before all that depends on the type: the id, and the type itself.
  static func open<Content>(
    _ json: String, _ content: (String, inout FieldReader) throws(MessageError) -> Content
  ) throws(MessageError) -> (id: RequestID?, content: Content) {
    var json = json
    let result = json.withUTF8 { bytes -> Result<(RequestID?, Content), MessageError> in
      do throws(MessageError) {
        guard let fields = JSONFields(bytes) else { throw .notJSON }
        var id: RequestID?
        var head = FieldReader(fields, id: nil)
        try head.requestID(&id)
        var reader = FieldReader(fields, id: id)
        var type = ""
        try reader.text("type", &type, .unstated(64))
        return .success((id, try content(type, &reader)))
      } catch { return .failure(error) }
    }
    return try result.get()
  }
}
