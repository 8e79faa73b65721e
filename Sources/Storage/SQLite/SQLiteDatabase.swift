internal import CSQLite
internal import Glibc

/// A database in one file of the data directory, or in memory.
///
/// Write-ahead log, synced with each commit (`synchronous=FULL`), so that what is committed survives a crash of the machine. Other programs can
/// read the file meanwhile, as a backup does.
final class SQLiteDatabase: Database {
  static let fileName = "roost.db"
  /// Milliseconds for which another program's write may stand in the way.
  private static let busyTimeout: Int32 = 5_000

  /// nil: in memory.
  private let directory: String?
  private var lock: DirectoryLock?
  private var handle: OpaquePointer?
  private var prepared: [SQLStatement: OpaquePointer] = [:]

  init(directory: String?) { self.directory = directory }

  deinit { close() }

  var place: String { directory.map { "\($0)/\(Self.fileName)" } ?? "memory" }
  var dialect: SQLDialect { .sqlite }
  var isOpen: Bool { handle != nil }
  var changes: Int64? { handle.map { sqlite3_total_changes64($0) } }

  // MARK: - Opening

  func open() throws(StoreError) {
    guard handle == nil else { return }
    var path = ":memory:"
    if let directory {
      // It stays for as long as the process: no other server comes in between.
      if lock == nil { lock = try DirectoryLock(directory) }
      path = place
      try makeFile(path)
    }
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let reason = String(cString: sqlite3_errstr(code))
      sqlite3_close_v2(opened)
      throw .cannotOpen("\(path): \(reason)")
    }
    handle = opened
    do throws(StoreError) { try prepareConnection(path) } catch {
      close()
      throw error
    }
  }

  /// Before SQLite does, which would let others read it.
  private func makeFile(_ path: String) throws(StoreError) {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .cannotOpen("\(path): \(String(cString: strerror(errno)))") }
    Glibc.close(descriptor)
    if let directory { DirectoryLock.sync(directory) }
  }

  private func prepareConnection(_ path: String) throws(StoreError) {
    sqlite3_busy_timeout(handle, Self.busyTimeout)
    let mode: [SQLRow]
    do throws(StoreError) { mode = try run("PRAGMA journal_mode = WAL", []) } catch {
      throw .cannotOpen(
        "\(path): \(error); if it is damaged, restore a backup, or move it away to begin with an empty one")
    }
    guard directory == nil || mode.first?.values == [.text("wal")] else {
      throw .cannotOpen(
        "\(path): its file system can't share memory, as a network's often can't; give a local directory")
    }
    try execute("PRAGMA synchronous = FULL")
    // What a burst has made of the log is given back.
    try execute("PRAGMA journal_size_limit = 16777216")
    try execute("PRAGMA trusted_schema = OFF")
    // What is deleted is overwritten in the file, also where its pages become free: a person who is erased isn't in what is left.
    try execute("PRAGMA secure_delete = ON")
  }

  func keepCopy(of version: Int) throws(StoreError) {
    guard let directory else { return }
    try SQLiteCopy.make(of: place, version: version, in: directory) { path throws(StoreError) in
      _ = try run("VACUUM INTO $1", [.text(path)])
    }
  }

  /// A transaction that SQLite has ended by itself, as it does where the disk is full, needs no end.
  func rollBack() {
    guard let handle, sqlite3_get_autocommit(handle) == 0 else { return }
    do throws(StoreError) { try execute("ROLLBACK") } catch { close() }
  }

  func close() {
    for statement in prepared.values { sqlite3_finalize(statement) }
    prepared = [:]
    sqlite3_close_v2(handle)
    handle = nil
  }

  // MARK: - Statements

  func run(_ statement: SQLStatement, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
    let prepared = try prepare(statement)
    defer {
      sqlite3_reset(prepared)
      sqlite3_clear_bindings(prepared)
    }
    try bind(values, to: prepared)
    var rows: [SQLRow] = []
    while true {
      switch sqlite3_step(prepared) {
      case SQLITE_ROW: rows.append(row(of: prepared))
      case SQLITE_DONE: return rows
      case let code: throw problem(code)
      }
    }
  }

  func run(_ statement: SQLStatement, each rows: [[SQLValue]]) throws(StoreError) {
    for values in rows { _ = try run(statement, values) }
  }

  func execute(_ sql: String) throws(StoreError) {
    guard let handle else { throw .unreachable("it is closed") }
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw problem(code) }
  }

  private func prepare(_ statement: SQLStatement) throws(StoreError) -> OpaquePointer {
    if let known = prepared[statement] { return known }
    guard let handle else { throw .unreachable("it is closed") }
    var made: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, statement.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard code == SQLITE_OK, let made else { throw problem(code) }
    prepared[statement] = made
    return made
  }

  private func bind(_ values: [SQLValue], to prepared: OpaquePointer) throws(StoreError) {
    for (place, value) in values.enumerated() {
      // By name: SQLite numbers `$2` by where it stands first.
      let index = sqlite3_bind_parameter_index(prepared, "$\(place + 1)")
      let code =
        switch value {
        case .null: sqlite3_bind_null(prepared, index)
        case .integer(let number): sqlite3_bind_int64(prepared, index, number)
        case .text(var text):
          text.withUTF8 {
            roost_sqlite_bind_text(
              prepared, index,
              $0.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) },
              UInt64($0.count))
          }
        case .bytes(let bytes):
          // An empty array has no address, and SQLite takes that for NULL.
          bytes.isEmpty
            ? sqlite3_bind_zeroblob(prepared, index, 0)
            : bytes.withUnsafeBytes {
              roost_sqlite_bind_blob(prepared, index, $0.baseAddress, UInt64($0.count))
            }
        }
      guard code == SQLITE_OK else { throw problem(code) }
    }
  }

  private func row(of prepared: OpaquePointer) -> SQLRow {
    SQLRow(
      (0..<sqlite3_column_count(prepared)).map { index in
        switch sqlite3_column_type(prepared, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(prepared, index))
        case SQLITE_NULL: return .null
        case let kind:
          // In this order, as SQLite asks for: the text or the bytes, then how many there are.
          let start = sqlite3_column_blob(prepared, index)
          let count = Int(sqlite3_column_bytes(prepared, index))
          let bytes = start.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
          return kind == SQLITE_BLOB ? .bytes(bytes) : .text(String(decoding: bytes, as: UTF8.self))
        }
      })
  }

  /// What an error's code says of what was done.
  private func problem(_ code: Int32) -> StoreError {
    let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
    switch code & 0xFF {
    case SQLITE_FULL: return .diskFull("\(place): \(text)")
    case SQLITE_BUSY, SQLITE_LOCKED: return .busy("\(place): \(text)")
    case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE: return .refused(text)
    // Where there is no room for the log's index, or for a page that is written back.
    case SQLITE_IOERR where sqlite3_system_errno(handle) == ENOSPC: return .diskFull("\(place): \(text)")
    default: return .failed("\(place): \(text)")
    }
  }
}
