internal import CPostgreSQL
internal import Glibc

/// A connection by libpq that never waits longer than it may: whatever the other end does, each call ends.
final class PostgreSQLConnection {
  /// For an answer; then the connection is given up. A server that takes longer to sync stands still.
  static let patience = Duration.seconds(10)
  /// The same while the schema is brought up to date: a step goes through all rows of a table, however many they are.
  static let migrationPatience = Duration.seconds(86_400)

  let handle: OpaquePointer

  /// - Parameter text: `host=… dbname=…` or `postgresql://…`; what it leaves out comes from libpq's environment.
  init(_ text: String) throws(StoreError) {
    try Self.check(text)
    // Those before `dbname` are what holds where the text says nothing, those behind it hold in any case.
    let settings = [
      ("connect_timeout", "5"), ("gssencmode", "disable"), ("application_name", "roost"), ("dbname", text),
      ("client_encoding", "UTF8"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
      ("keepalives_count", "3"),
    ]
    let names = settings.map { strdup($0.0) }
    let values = settings.map { strdup($0.1) }
    defer { for text in names + values { free(text) } }
    let opened = (names.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { names in
      (values.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { values in
        PQconnectdbParams(names.baseAddress, values.baseAddress, 1)
      }
    }
    guard let opened else { throw .unreachable("no memory") }
    guard PQstatus(opened) == CONNECTION_OK else {
      let reason = Self.line(PQerrorMessage(opened))
      PQfinish(opened)
      throw .unreachable(reason)
    }
    handle = opened
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    // Neither details nor hints nor the statement's values: those may be tokens, and the words go into the log.
    PQsetErrorVerbosity(handle, PQERRORS_TERSE)
    PQsetnonblocking(handle, 1)
  }

  deinit { PQfinish(handle) }

  /// libpq's own words about a text that it can't read repeat it, with the password.
  private static func check(_ text: String) throws(StoreError) {
    var words: UnsafeMutablePointer<CChar>?
    guard let parsed = PQconninfoParse(text, &words) else {
      PQfreemem(words)
      throw .cannotOpen(
        "storage.postgresql is no connection string; expected: postgresql://user@host/database, or host=… dbname=… user=…"
      )
    }
    PQconninfoFree(parsed)
  }

  /// What libpq says, in one line.
  static func line(_ text: UnsafePointer<CChar>?) -> String {
    guard let text else { return "" }
    return String(cString: text).split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  // MARK: - Waiting

  /// Sends what waits to be sent, and reads until the next result is whole.
  /// - Returns: nil: there are no more of this statement.
  func nextResult(before deadline: ContinuousClock.Instant) throws(StoreError) -> PostgreSQLResult? {
    try flush(before: deadline)
    while PQisBusy(handle) != 0 {
      try wait(for: POLLIN, before: deadline)
      guard PQconsumeInput(handle) == 1 else { throw lost }
    }
    guard let result = PQgetResult(handle) else {
      guard PQstatus(handle) == CONNECTION_OK else { throw lost }
      return nil
    }
    return PostgreSQLResult(result)
  }

  func flush(before deadline: ContinuousClock.Instant) throws(StoreError) {
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        // A server whose own answers aren't read takes nothing more.
        try wait(for: POLLIN | POLLOUT, before: deadline)
        guard PQconsumeInput(handle) == 1 else { throw lost }
      default: throw lost
      }
    }
  }

  private func wait(for events: Int32, before deadline: ContinuousClock.Instant) throws(StoreError) {
    var watched = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
    let left = (deadline - .now).components
    let milliseconds = max(0, left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000)
    let found = poll(&watched, 1, Int32(clamping: milliseconds))
    if found == 0 { throw .connectionLost("no answer in time") }
    if found < 0, errno != EINTR { throw .connectionLost(String(cString: strerror(errno))) }
  }

  var lost: StoreError { .connectionLost(Self.line(PQerrorMessage(handle))) }
}

/// An answer of the server, freed with its last reader.
final class PostgreSQLResult {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { PQclear(handle) }

  /// nil: it is none.
  var error: StoreError? {
    let status = PQresultStatus(handle)
    guard status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE || status == PGRES_PIPELINE_ABORTED
    else {
      return nil
    }
    let state = field("C")
    let text = state.isEmpty ? firstLine : "\(state): \(field("M"))"
    // PostgreSQL's error codes, appendix A of its manual.
    switch state.prefix(2) {
    case "22", "23": return .refused(text)
    case "40", "55": return .busy(text)
    case "53": return state == "53100" ? .diskFull(text) : .unreachable(text)
    case "08", "57": return .connectionLost(text)
    default: return .failed(text)
    }
  }

  /// One part of an error, by its letter: `C`, the SQLSTATE; `M`, what is wrong, in one line. The detail (`D`) has values of the row,
  /// and isn't asked for.
  private func field(_ letter: Unicode.Scalar) -> String {
    PostgreSQLConnection.line(PQresultErrorField(handle, Int32(letter.value)))
  }

  /// What libpq says itself, where the server has said nothing.
  private var firstLine: String {
    let text = PQresultErrorMessage(handle).map { String(cString: $0) } ?? ""
    return text.split(whereSeparator: \.isNewline).first.map { String($0) } ?? ""
  }

  /// In the binary form of PostgreSQL's types.
  func rows() throws(StoreError) -> [SQLRow] {
    var rows: [SQLRow] = []
    for row in 0..<PQntuples(handle) {
      var values: [SQLValue] = []
      for column in 0..<PQnfields(handle) { values.append(try value(row, column)) }
      rows.append(SQLRow(values))
    }
    return rows
  }

  private func value(_ row: Int32, _ column: Int32) throws(StoreError) -> SQLValue {
    guard PQgetisnull(handle, row, column) == 0 else { return .null }
    let bytes = UnsafeRawBufferPointer(
      start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
    switch PQftype(handle, column) {
    // bool, int8, int2, int4
    case 16, 20, 21, 23:
      guard (1...8).contains(bytes.count) else { break }
      let high = Int64(Int8(bitPattern: bytes[0]))
      return .integer(bytes.dropFirst().reduce(high) { $0 << 8 | Int64($1) })
    case 17: return .bytes(Array(bytes))
    // name, text, varchar
    case 19, 25, 1043: return .text(String(decoding: bytes, as: UTF8.self))
    default: break
    }
    throw .unreadable("an answer has a column of a type that is none of ours: \(PQftype(handle, column))")
  }
}
