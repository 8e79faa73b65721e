/// What a write or a read does to the database: statements that are done together, or not at all.
///
/// It is there for the length of the call that it is given to, on the store's thread.
public struct Transaction: ~Copyable {
  private let database: any Database

  init(_ database: any Database) { self.database = database }

  /// One statement with its values, `$1` first.
  /// - Returns: its rows.
  @discardableResult
  public func run(_ statement: SQLStatement, _ values: [SQLValue] = []) throws(StoreError) -> [SQLRow] {
    try database.run(statement, values)
  }

  /// The same statement for each row of values, in order; with PostgreSQL for the price of one way there and back.
  public func run(_ statement: SQLStatement, each rows: [[SQLValue]]) throws(StoreError) {
    if !rows.isEmpty { try database.run(statement, each: rows) }
  }
}
