/// The types of message that go one way, each with how it is read: what there is stands here once.
struct MessageTable<Content>: Sendable {
  /// One type.
  struct Kind: Sendable {
    let message: any Message.Type
    let read: @Sendable (inout FieldReader) throws(MessageError) -> Content

    init<Value: Message>(_ content: @escaping @Sendable (Value) -> Content) {
      message = Value.self
      read = { (reader: inout FieldReader) throws(MessageError) -> Content in content(try reader.read()) }
    }
  }

  /// In the order of the schema.
  let kinds: [Kind]
  private let places: [String: Int]

  init(_ kinds: [Kind]) {
    self.kinds = kinds
    places = Dictionary(
      uniqueKeysWithValues: kinds.enumerated().map { index, kind in (kind.message.type, index) })
  }

  /// Reads the fields of that type alone.
  /// - Returns: nil for a type that isn't known here.
  func content(_ type: String, _ reader: inout FieldReader) throws(MessageError) -> Content? {
    guard let place = places[type] else { return nil }
    return try kinds[place].read(&reader)
  }
}
