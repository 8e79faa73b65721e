/// A statement with places for values, `$1` to `$n`, in the SQL that SQLite and PostgreSQL have in common.
///
/// Its text stands in the program: a value never becomes part of it. Each is prepared once for each connection.
public struct SQLStatement: Hashable, Sendable, ExpressibleByStringLiteral {
  let text: String

  public init(stringLiteral text: StaticString) { self.text = text.description }

  /// One whose text stands in the program in parts, which follow each other.
  public init(of parts: StaticString...) { text = parts.map(\.description).joined(separator: "\n") }

  /// For tests: asks SQLite by which indexes it goes about another one.
  init(planOf statement: SQLStatement) { text = "EXPLAIN QUERY PLAN " + statement.text }
}
