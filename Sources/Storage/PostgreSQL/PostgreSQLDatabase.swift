internal import CPostgreSQL
internal import Glibc

/// A PostgreSQL database, in the schema `roost`.
///
/// The session holds an advisory lock for as long as it lives: another server doesn't get it, and a session that has lost it can't
/// write any more, since the lock ends with the connection by which it would. With another connection it goes on only where no other
/// server has been there in between.
final class PostgreSQLDatabase: Database {
  /// "RoostSto", as the number of the lock; it is the database's own.
  private static let lock: Int64 = 0x526F_6F73_7453_746F
  /// A server that was killed holds the lock until PostgreSQL has noticed.
  private static let lockPatience = Duration.seconds(5)
  /// Statements on their way at once: their answers fit into what the sockets take, whichever side is slower.
  private static let pipeline = 256

  /// For an answer.
  var patience = PostgreSQLConnection.patience

  private let text: String
  private var isMigrating = false
  private var connection: PostgreSQLConnection?
  /// By the name under which the session knows it.
  private var prepared: [SQLStatement: String] = [:]
  private var wasOpen = false
  /// By which the database knows this process.
  private let owner = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
  private var hasClaimed = false
  private var isTakenOver = false

  init(_ text: String) { self.text = text }

  private(set) var place = "PostgreSQL"
  var dialect: SQLDialect { .postgreSQL }
  var isOpen: Bool { connection.map { PQstatus($0.handle) == CONNECTION_OK } ?? false }

  // MARK: - Opening

  func open() throws(StoreError) {
    guard !isOpen else { return }
    guard !isTakenOver else { throw .takenOver(place) }
    close()
    let opened = try PostgreSQLConnection(text)
    connection = opened
    place = Self.place(of: opened.handle)
    do throws(StoreError) {
      try checkServer()
      try takeLock(until: .now + (wasOpen ? .zero : Self.lockPatience))
      try makeSchema()
    } catch {
      close()
      throw error
    }
    wasOpen = true
  }

  private static func place(of handle: OpaquePointer) -> String {
    let name = PQdb(handle).map { String(cString: $0) } ?? ""
    let host = PQhost(handle).map { String(cString: $0) } ?? ""
    return "PostgreSQL database \(name) at \(host)"
  }

  private func checkServer() throws(StoreError) {
    let found = try run(
      """
      SELECT pg_is_in_recovery(), current_setting('server_encoding'), current_setting('synchronous_commit') = 'off'
      """, []
    ).first
    guard try found?.integer(0) == 0 else {
      throw .cannotOpen("\(place) is a standby, which takes no writes; give the primary")
    }
    guard try found?.text(1) == "UTF8" else {
      throw .cannotOpen("\(place) isn't in UTF8; make one by: createdb --encoding UTF8 --template template0")
    }
    // What is answered has to outlive the machine, whatever the database usually does.
    if try found?.integer(2) == 1 { try execute("SET synchronous_commit = on") }
    // When the server is to notice that this end has gone without a word.
    try execute("SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3")
    try execute("SET idle_in_transaction_session_timeout = '30s'; SET statement_timeout = '30s'")
  }

  private func takeLock(until deadline: ContinuousClock.Instant) throws(StoreError) {
    while true {
      if try run("SELECT pg_try_advisory_lock($1)", [.integer(Self.lock)]).first?.integer(0) == 1 { return }
      guard ContinuousClock.now < deadline else { throw .inUse(place, by: holder()) }
      usleep(250_000)
    }
  }

  /// The session that has the lock, as PostgreSQL shows it; empty: it doesn't, or not to this user.
  private func holder() -> String {
    do throws(StoreError) {
      // A lock by one number has its upper half in `classid`, the lower in `objid`, and 1 in `objsubid`.
      let row = try run(
        """
        SELECT l.pid, COALESCE(a.application_name, ''), COALESCE(host(a.client_addr), ''),
          COALESCE(to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '')
        FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
          AND ((l.classid::bigint << 32) | l.objid::bigint) = $1
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        """, [.integer(Self.lock)]
      ).first
      guard let row else { return "" }
      let process = try row.integer(0)
      let (name, client, start) = (try row.text(1), try row.text(2), try row.text(3))
      let words = [
        "PostgreSQL's process \(process)", name.isEmpty ? nil : "of \(name)",
        client.isEmpty ? nil : "from \(client)", start.isEmpty ? nil : "since \(start)",
      ]
      return StoreError.words(words.compactMap { $0 }.joined(separator: " "))
    } catch { return "" }
  }

  func claim() throws(StoreError) {
    guard hasClaimed else {
      _ = try run(
        """
        INSERT INTO store_owner (one, id) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET id = excluded.id
        """, [.bytes(owner)])
      hasClaimed = true
      return
    }
    let found = try run("SELECT id FROM store_owner WHERE one = 1", []).first?.bytes(0)
    guard found == owner else {
      isTakenOver = true
      throw .takenOver(place)
    }
  }

  private func makeSchema() throws(StoreError) {
    let found = try run("SELECT 1::bigint FROM pg_namespace WHERE nspname = 'roost'", [])
    if found.isEmpty {
      do throws(StoreError) { try execute("CREATE SCHEMA roost") } catch {
        throw .cannotOpen(
          "\(place): \(error); have its owner run: CREATE SCHEMA roost AUTHORIZATION the user that Roost connects as"
        )
      }
    }
    try execute("SET search_path = roost")
  }

  func close() {
    prepared = [:]
    connection = nil
  }

  // MARK: - Statements

  func run(_ statement: SQLStatement, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
    let connection = try connected()
    let name = try prepare(statement, connection)
    let sent = Self.withParameters(values) { count, texts, lengths, formats in
      PQsendQueryPrepared(connection.handle, name, count, texts, lengths, formats, 1)
    }
    guard sent == 1 else { throw lose(connection.lost) }
    return try answers(connection).last?.rows() ?? []
  }

  func run(_ statement: SQLStatement, each rows: [[SQLValue]]) throws(StoreError) {
    let connection = try connected()
    let name = try prepare(statement, connection)
    var rest = rows[...]
    while !rest.isEmpty {
      try pipeline(rest.prefix(Self.pipeline), name, connection)
      rest = rest.dropFirst(Self.pipeline)
    }
  }

  /// Sends them all, then reads what becomes of each.
  private func pipeline(
    _ rows: ArraySlice<[SQLValue]>, _ name: String, _ connection: PostgreSQLConnection
  ) throws(StoreError) {
    guard PQenterPipelineMode(connection.handle) == 1 else { throw lose(connection.lost) }
    for values in rows {
      let sent = Self.withParameters(values) { count, texts, lengths, formats in
        PQsendQueryPrepared(connection.handle, name, count, texts, lengths, formats, 1)
      }
      guard sent == 1 else { throw lose(connection.lost) }
    }
    guard PQpipelineSync(connection.handle) == 1 else { throw lose(connection.lost) }
    let deadline = deadline
    var problem: StoreError?
    var (synced, silent) = (false, 0)
    do throws(StoreError) {
      // A nil ends each statement; the sync is the last.
      while !synced {
        guard let result = try connection.nextResult(before: deadline) else {
          silent += 1
          guard silent <= rows.count + 1 else { throw .connectionLost("an answer is missing") }
          continue
        }
        synced = PQresultStatus(result.handle) == PGRES_PIPELINE_SYNC
        // Those behind the first that failed are not even tried.
        if problem == nil { problem = result.error }
      }
    } catch { throw lose(error) }
    guard PQexitPipelineMode(connection.handle) == 1 else { throw lose(connection.lost) }
    if let problem { throw lose(problem) }
  }

  func execute(_ sql: String) throws(StoreError) {
    let connection = try connected()
    guard PQsendQuery(connection.handle, sql) == 1 else { throw lose(connection.lost) }
    _ = try answers(connection)
  }

  func migrate(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    // It ends with the transaction.
    try execute("SET LOCAL statement_timeout = 0")
    isMigrating = true
    defer { isMigrating = false }
    try body()
  }

  private func connected() throws(StoreError) -> PostgreSQLConnection {
    guard let connection else { throw .unreachable("there is no connection") }
    return connection
  }

  private func prepare(
    _ statement: SQLStatement, _ connection: PostgreSQLConnection
  ) throws(StoreError) -> String {
    if let known = prepared[statement] { return known }
    let name = "s\(prepared.count)"
    guard PQsendPrepare(connection.handle, name, statement.text, 0, nil) == 1 else {
      throw lose(connection.lost)
    }
    _ = try answers(connection)
    prepared[statement] = name
    return name
  }

  /// All results of what was sent, none of which is an error.
  private func answers(_ connection: PostgreSQLConnection) throws(StoreError) -> [PostgreSQLResult] {
    let deadline = deadline
    var results: [PostgreSQLResult] = []
    do throws(StoreError) {
      while let result = try connection.nextResult(before: deadline) { results.append(result) }
    } catch { throw lose(error) }
    if let problem = results.lazy.compactMap(\.error).first { throw lose(problem) }
    return results
  }

  private var deadline: ContinuousClock.Instant {
    .now + (isMigrating ? PostgreSQLConnection.migrationPatience : patience)
  }

  /// A connection that is lost is of no further use.
  private func lose(_ problem: StoreError) -> StoreError {
    if case .connectionLost = problem { close() }
    return problem
  }

  /// In the binary form: integers as 64 bits in network order, text and bytes as they are.
  private static func withParameters<Result>(
    _ values: [SQLValue],
    _ body: (
      Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Result
  ) -> Result {
    var all: [UInt8] = []
    var places: [(start: Int, count: Int)?] = []
    for value in values {
      let start = all.count
      switch value {
      case .null:
        places.append(nil)
        continue
      case .integer(let number):
        for shift in stride(from: 56, through: 0, by: -8) {
          all.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
      case .text(let text): all += text.utf8
      case .bytes(let bytes): all += bytes
      }
      places.append((start, all.count - start))
    }
    // So that what is empty has an address too, and isn't NULL.
    all.append(0)
    return all.withUnsafeBytes { all in
      let texts = places.map { place in
        place.flatMap { all.baseAddress?.advanced(by: $0.start).assumingMemoryBound(to: CChar.self) }
      }
      let lengths = places.map { Int32(clamping: $0?.count ?? 0) }
      let formats = [Int32](repeating: 1, count: values.count)
      return texts.withUnsafeBufferPointer { texts in
        lengths.withUnsafeBufferPointer { lengths in
          formats.withUnsafeBufferPointer {
            body(Int32(values.count), texts.baseAddress, lengths.baseAddress, $0.baseAddress)
          }
        }
      }
    }
  }
}
