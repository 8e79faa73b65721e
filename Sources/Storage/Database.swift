/// One connection to a database, of either kind. It belongs to the store's thread, which alone calls it.
protocol Database: AnyObject {
  /// Where it is, for the operator; without secrets.
  var place: String { get }
  /// SQL of its own for what the schema writes in the words of SQLite.
  var dialect: SQLDialect { get }
  /// It takes statements: false before `open`, and once its connection was lost.
  var isOpen: Bool { get }
  /// Rows that were changed by this connection so far; nil: it doesn't say.
  var changes: Int64? { get }

  /// Connects, and locks out other servers. It says nothing of what is in the database.
  func open() throws(StoreError)
  func close()

  /// One statement with its values.
  /// - Returns: its rows.
  func run(_ statement: SQLStatement, _ values: [SQLValue]) throws(StoreError) -> [SQLRow]
  /// The same statement once for each row of values, in order; what it answers isn't asked for.
  func run(_ statement: SQLStatement, each rows: [[SQLValue]]) throws(StoreError)
  /// Statements without values, of a migration, or that begin and end a transaction.
  func execute(_ sql: String) throws(StoreError)
  /// Makes sure that no other server has used the database since this one opened it first; behind the schema, each time that it was
  /// opened.
  /// - Throws: `takenOver`, from then on and for good.
  func claim() throws(StoreError)
  /// Has a step of the schema take its time, in the transaction that has begun: how long that is goes by how much there is.
  func migrate(_ body: () throws(StoreError) -> Void) throws(StoreError)
  /// Copies it aside as it is, before it is brought from that version to a newer one.
  func keepCopy(of version: Int) throws(StoreError)
  /// As if nothing of the transaction had been; a connection that can't even do that is given up.
  func rollBack()
}

extension Database {
  var changes: Int64? { nil }

  func begin() throws(StoreError) { try execute(dialect.begin) }
  /// Returns once it is on the disk.
  func commit() throws(StoreError) { try execute("COMMIT") }

  /// A lock that stays for as long as the process keeps others out.
  func claim() throws(StoreError) {}

  func migrate(_ body: () throws(StoreError) -> Void) throws(StoreError) { try body() }

  /// A database that has an operator of its own is backed up by that one.
  func keepCopy(of version: Int) throws(StoreError) {}

  func rollBack() {
    guard isOpen else { return }
    do throws(StoreError) { try execute("ROLLBACK") } catch { close() }
  }
}

/// Words in which the databases differ.
enum SQLDialect: Sendable {
  case sqlite
  case postgreSQL

  /// SQLite takes the lock for writing at once, so that no later statement finds it taken.
  var begin: String { self == .sqlite ? "BEGIN IMMEDIATE" : "BEGIN" }

  /// A statement of the schema, which is written in SQLite's words.
  func translated(_ sql: String) -> String {
    guard self == .postgreSQL else { return sql }
    let words = ["INTEGER": "BIGINT", "BLOB": "BYTEA", "STRICT": ""]
    var (result, word) = ("", "")
    for character in sql + " " {
      if character.isLetter || character == "_" {
        word.append(character)
        continue
      }
      result += words[word] ?? word
      word = ""
      result.append(character)
    }
    return String(result.dropLast())
  }
}
