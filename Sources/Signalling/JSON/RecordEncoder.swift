/// Writes the fields of a record into a keyed container, so that answers of REST, which are `Encodable`, can hold records.
struct RecordEncoder: FieldCoder {
  typealias Failure = any Error

  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private var container: KeyedEncodingContainer<Key>

  init(_ encoder: any Encoder) { container = encoder.container(keyedBy: Key.self) }

  private mutating func put(_ field: Field, _ value: (some Encodable)?) throws {
    try container.encodeIfPresent(value, forKey: Key(stringValue: field.name))
  }

  mutating func text(_ field: Field, _ value: inout String, _ bounds: TextBounds) throws {
    try put(field, value)
  }
  mutating func text(_ field: Field, _ value: inout String?, _ bounds: TextBounds) throws {
    try put(field, value)
  }
  mutating func nullableText(_ field: Field, _ value: inout String?, _ bounds: TextBounds) throws {
    try container.encode(value, forKey: Key(stringValue: field.name))
  }
  mutating func texts(_ field: Field, _ value: inout [String], _ bounds: ListBounds) throws {
    try put(field, value)
  }
  mutating func texts(_ field: Field, _ value: inout [String]?, _ bounds: ListBounds) throws {
    try put(field, value)
  }
  mutating func attributes(_ field: Field, _ value: inout [String: String]) throws { try put(field, value) }
  mutating func attributes(_ field: Field, _ value: inout [String: String]?) throws { try put(field, value) }
  mutating func bytes(_ field: Field, _ value: inout [UInt8], limit: Int?) throws {
    try put(field, String(decoding: Base64.encode(value), as: UTF8.self))
  }
  mutating func flag(_ field: Field, _ value: inout Bool) throws { try put(field, value) }
  mutating func flag(_ field: Field, _ value: inout Bool, or fallback: Bool) throws { try put(field, value) }
  mutating func integer(_ field: Field, _ value: inout Int, _ bounds: ClosedRange<Int>) throws {
    try put(field, value)
  }
  mutating func integer(_ field: Field, _ value: inout Int?, _ bounds: ClosedRange<Int>) throws {
    try put(field, value)
  }
  mutating func share(_ field: Field, _ value: inout Double) throws { try put(field, value) }
  mutating func number(_ field: Field, _ value: inout Double?) throws { try put(field, value) }
  mutating func word<Value: Word>(_ field: Field, _ value: inout Value) throws {
    try put(field, value.rawValue)
  }
  mutating func word<Value: Word>(_ field: Field, _ value: inout Value?) throws {
    try put(field, value?.rawValue)
  }
  mutating func words<Value: Word>(_ field: Field, _ value: inout [Value]?) throws {
    try put(field, value?.map(\.rawValue))
  }
  mutating func record<Value: Record>(_ field: Field, _ value: inout Value) throws { try put(field, value) }
  mutating func record<Value: Record>(_ field: Field, _ value: inout Value?) throws { try put(field, value) }
  mutating func records<Value: Record>(_ field: Field, _ value: inout [Value], _ bounds: ListBounds) throws {
    try put(field, value)
  }
  mutating func records<Value: Record>(_ field: Field, _ value: inout [Value]?, _ bounds: ListBounds) throws {
    try put(field, value)
  }
  /// None of them is in an answer of REST.
  mutating func records<Value: Record>(
    _ field: Field, _ value: inout [Written<Value>], _ bounds: ListBounds
  ) throws {
    try put(
      field,
      value.compactMap { item in
        if case .value(let value) = item { value } else { nil }
      })
  }
  mutating func choice<Value: RecordChoice>(_ field: Field, _ value: inout Value?) throws {
    try put(field, value?.first)
    try put(field, value?.second)
  }
  /// Nor is one of these.
  mutating func opaque(_ field: Field, _ value: inout OpaqueJSON, limit: Int?) throws {
    try put(field, String(decoding: value.bytes, as: UTF8.self))
  }
  mutating func requestID(_ value: inout RequestID?) {}
  mutating func unread(_ field: Field) {}
  mutating func require(_ name: String, _ expected: String, _ isMet: @autoclosure () -> Bool) {}
}

extension Record {
  public func encode(to encoder: any Encoder) throws {
    var fields = RecordEncoder(encoder)
    var value = self
    try value.fields(&fields)
  }
}
