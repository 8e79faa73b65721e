/// What visits the fields of a record, in either direction or to describe them.
///
/// A field whose value is optional is left out where it is nil, and may be absent or null when it is read.
public protocol FieldCoder {
  /// `Never` for those that only write.
  associatedtype Failure: Error

  mutating func text(_ field: Field, _ value: inout String, _ bounds: TextBounds) throws(Failure)
  mutating func text(_ field: Field, _ value: inout String?, _ bounds: TextBounds) throws(Failure)
  /// A text that is written as null where it is nil: absent would mean unknown.
  mutating func nullableText(_ field: Field, _ value: inout String?, _ bounds: TextBounds) throws(Failure)
  mutating func flag(_ field: Field, _ value: inout Bool) throws(Failure)
  /// A flag that may be absent, which says as much as `fallback`.
  mutating func flag(_ field: Field, _ value: inout Bool, or fallback: Bool) throws(Failure)
  mutating func integer(_ field: Field, _ value: inout Int, _ bounds: ClosedRange<Int>) throws(Failure)
  mutating func integer(_ field: Field, _ value: inout Int?, _ bounds: ClosedRange<Int>) throws(Failure)
  /// 0 to 1.
  mutating func share(_ field: Field, _ value: inout Double) throws(Failure)
  /// Not negative.
  mutating func number(_ field: Field, _ value: inout Double?) throws(Failure)
  mutating func word<Value: Word>(_ field: Field, _ value: inout Value) throws(Failure)
  mutating func word<Value: Word>(_ field: Field, _ value: inout Value?) throws(Failure)
  mutating func words<Value: Word>(_ field: Field, _ value: inout [Value]?) throws(Failure)
  mutating func record<Value: Record>(_ field: Field, _ value: inout Value) throws(Failure)
  mutating func record<Value: Record>(_ field: Field, _ value: inout Value?) throws(Failure)
  /// - Parameter limit: of items.
  mutating func records<Value: Record>(_ field: Field, _ value: inout [Value], _ limit: ListBounds)
    throws(Failure)
  mutating func records<Value: Record>(_ field: Field, _ value: inout [Value]?, _ limit: ListBounds)
    throws(Failure)
  /// Records that may have been written before.
  mutating func records<Value: Record>(
    _ field: Field, _ value: inout [Written<Value>], _ limit: ListBounds
  ) throws(Failure)
  mutating func texts(_ field: Field, _ value: inout [String], _ limit: ListBounds) throws(Failure)
  mutating func texts(_ field: Field, _ value: inout [String]?, _ limit: ListBounds) throws(Failure)
  mutating func attributes(_ field: Field, _ value: inout [String: String]) throws(Failure)
  mutating func attributes(_ field: Field, _ value: inout [String: String]?) throws(Failure)
  /// Bytes as base64 (RFC 4648 §4).
  /// - Parameter limit: characters of base64; nil: any.
  mutating func bytes(_ field: Field, _ value: inout [UInt8], limit: Int?) throws(Failure)
  /// A value of an app's; absent says as much as null.
  /// - Parameter limit: bytes of its text; nil: any.
  mutating func opaque(_ field: Field, _ value: inout OpaqueJSON, limit: Int?) throws(Failure)
  mutating func requestID(_ value: inout RequestID?) throws(Failure)
  mutating func choice<Value: RecordChoice>(_ field: Field, _ value: inout Value?) throws(Failure)

  /// A field that clients may send and that says nothing here.
  mutating func unread(_ field: Field) throws(Failure)
  /// What must hold for a field beyond its own bounds.
  mutating func require(
    _ name: String, _ expected: String, _ isMet: @autoclosure () -> Bool
  ) throws(Failure)
}

/// A field's name, and what the schema says of it.
public struct Field: ExpressibleByStringLiteral, Sendable {
  public let name: String
  public let note: String

  public init(_ name: String, _ note: String = "") { (self.name, self.note) = (name, note) }
  public init(stringLiteral name: String) { self.init(name) }
}

/// What a text may be.
public struct TextBounds: Sendable {
  /// Bytes of UTF-8.
  var limit = Int.max
  /// The same, where the schema names them.
  var stated: ClosedRange<Int>?
  /// What it is instead where it is empty; nil: it may be, or what takes it judges.
  var expected: String?
  /// What is shown to people: 1 to 128 bytes without control characters.
  var isName = false
  /// The schema's definition; nil: a plain string.
  var definition: String?
  /// A regular expression of the schema.
  var pattern: String?
  /// Null says as much as absence.
  var isNullable = false

  public static let any = TextBounds()
  /// Up to so many bytes.
  public static func atMost(_ limit: Int, isNullable: Bool = false) -> TextBounds {
    TextBounds(limit: limit, stated: 0...limit, isNullable: isNullable)
  }
  /// At least one byte; `expected` is what the text is where it is empty.
  public static func from1(to limit: Int, _ expected: String? = nil) -> TextBounds {
    TextBounds(limit: limit, stated: 1...limit, expected: expected)
  }
  /// A bound that what takes the text has as well, and that the schema leaves to it.
  public static func unstated(_ limit: Int) -> TextBounds { TextBounds(limit: limit) }
  public static let name = TextBounds(limit: 128, stated: 1...128, isName: true)
  /// As others were given it: what holds for it was seen to when it was said.
  public static let identity = TextBounds(stated: 1...128)
  public static let track = TextBounds(definition: "TrackID")
  public static let participant = TextBounds(definition: "ParticipantID")
  public static let room = TextBounds(pattern: "^RM_")
  public static let recording = TextBounds(pattern: "^RC_")
  public static let waiting = TextBounds(pattern: "^WT_")
}

/// How many items a list has, and what it is called where it is none. No item is looked at of a list that has more.
public struct ListBounds: Sendable {
  let limit: Int
  var expected = "a list"
  /// Absence says as much as an empty list, and the schema names the bound; else the list is always there, and its bound is
  /// only there for readers to be safe by.
  var isOptional = false

  /// A client's list.
  public static func atMost(_ limit: Int, _ expected: String) -> ListBounds {
    ListBounds(limit: limit, expected: expected, isOptional: true)
  }
  /// Participants of a room: as many as the server can be set to let in.
  public static let people = ListBounds(limit: 100_000)
  /// Sessions that wait to be let into one room: more than the server lets wait.
  public static let waiters = ListBounds(limit: 64)
  /// Messages that a room keeps.
  public static let kept = ListBounds(limit: 200)
  /// Sections of a session, and tracks of a participant: beyond all that have come and gone on one transport.
  public static let sections = ListBounds(limit: 4_096)
  /// STUN and TURN servers, and addresses of one.
  public static let addresses = ListBounds(limit: 256)
  /// Of a set of words, each once.
  static func words(_ count: Int) -> ListBounds { ListBounds(limit: count) }
}

/// A record, or its JSON, which was made once for all messages that carry it.
public enum Written<Value: Record>: Equatable, Sendable {
  case value(Value)
  case json(String)
}
