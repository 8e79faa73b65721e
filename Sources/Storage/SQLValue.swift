/// What a parameter or a column is: the four kinds that both databases have in common.
public enum SQLValue: Equatable, Sendable {
  case null
  /// `INTEGER` in SQLite, `BIGINT` in PostgreSQL.
  case integer(Int64)
  /// UTF-8. PostgreSQL refuses U+0000 in it; what others may have written goes into `bytes`.
  case text(String)
  /// `BLOB` in SQLite, `BYTEA` in PostgreSQL.
  case bytes([UInt8])

  public static func integer(_ value: Int) -> SQLValue { .integer(Int64(value)) }
  public static func bytes(of text: String) -> SQLValue { .bytes(Array(text.utf8)) }

  /// - Returns: `null` for nil.
  public static func optional<Value>(_ value: Value?, _ kind: (Value) -> SQLValue) -> SQLValue {
    value.map(kind) ?? .null
  }

  /// Roughly, in memory and on the way to the database.
  var size: Int {
    switch self {
    case .null, .integer: 8
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    }
  }
}

/// One row of an answer.
///
/// A column is read by its place; one that is of another kind is an error of what was asked alone: somebody else has written that
/// row.
public struct SQLRow: Equatable, Sendable {
  public let values: [SQLValue]

  init(_ values: [SQLValue]) { self.values = values }

  public func integer(_ index: Int) throws(StoreError) -> Int64 {
    guard index < values.count, case .integer(let value) = values[index] else {
      throw wrong(index, "integer")
    }
    return value
  }

  public func optionalInteger(_ index: Int) throws(StoreError) -> Int64? {
    isNull(index) ? nil : try integer(index)
  }

  public func text(_ index: Int) throws(StoreError) -> String {
    guard index < values.count, case .text(let value) = values[index] else { throw wrong(index, "text") }
    return value
  }

  public func bytes(_ index: Int) throws(StoreError) -> [UInt8] {
    guard index < values.count, case .bytes(let value) = values[index] else { throw wrong(index, "bytes") }
    return value
  }

  public func optionalBytes(_ index: Int) throws(StoreError) -> [UInt8]? {
    isNull(index) ? nil : try bytes(index)
  }

  /// Text that is kept as bytes, since it may have any characters.
  public func string(_ index: Int) throws(StoreError) -> String {
    guard let text = String(validating: try bytes(index), as: UTF8.self) else { throw wrong(index, "UTF-8") }
    return text
  }

  private func isNull(_ index: Int) -> Bool { index < values.count && values[index] == .null }

  private func wrong(_ index: Int, _ expected: String) -> StoreError {
    .unreadable("column \(index) of an answer is no \(expected)")
  }
}
