/// A value that goes over the wire as a JSON object.
///
/// It lists its fields once. By that list it is read, each field within its bound (`FieldReader`), written (`FieldWriter`), and
/// described in the JSON schema (`SchemaWriter`), so that the three can't differ. `Codable` would build a value before any
/// bound is known, and says nothing to a schema.
public protocol Record: Equatable, Sendable, Encodable {
  /// What reading begins with.
  init()
  /// As the schema and the TypeScript types name it.
  static var definition: String { get }
  /// One sentence for the schema.
  static var summary: String { get }
  /// Shows each field to a coder, in the order in which people read them.
  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

/// A record that is a message of its own, which is known by its `type`.
public protocol Message: Record {
  static var type: String { get }
  static var id: RequestIDUse { get }
}

/// Whether a message carries the id of a request: its own, or that of the one that it answers.
public enum RequestIDUse: Sendable {
  case none
  case optional
  case required
}

extension Message {
  public static var id: RequestIDUse { .optional }
}

/// One of two records, of which the first has a field that the second never has.
public protocol RecordChoice: Equatable, Sendable {
  associatedtype First: Record
  associatedtype Second: Record
  /// The name of that field.
  static var mark: String { get }
  init(first: First)
  init(second: Second)
  /// nil: it is the second.
  var first: First? { get }
  var second: Second? { get }
}

/// A set of words, of which a field is one.
public protocol Word: RawRepresentable<String>, CaseIterable, Equatable, Sendable {
  /// The schema's name for them; nil: they stand where they are used.
  static var definition: String? { get }
  static var summary: String { get }
}

extension Word {
  public static var definition: String? { nil }
  public static var summary: String { "" }
}
