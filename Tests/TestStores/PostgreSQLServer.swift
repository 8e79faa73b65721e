import Foundation
import Synchronization

/// A PostgreSQL server of the tests' own, in a directory of its own, reached by a socket there and by nothing else.
///
/// It ends with the process, however that ends: the shell that has started it reads from a pipe that closes then.
public final class PostgreSQLServer: Sendable {
  public struct Problem: Error, CustomStringConvertible { public let description: String }

  private static let made = Mutex<Result<PostgreSQLServer, Problem>?>(nil)

  /// One for all tests, made by the first that asks.
  public static func shared() throws -> PostgreSQLServer {
    try made.withLock { made in
      if let made { return made }
      let server = Result { () throws(Problem) in try PostgreSQLServer() }
      made = server
      return server
    }.get()
  }

  public let directory: String
  private let count = Mutex(0)

  private static func binary(_ name: String) throws(Problem) -> String {
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    for version in versions.sorted().reversed() {
      let path = "/usr/lib/postgresql/\(version)/bin/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    throw Problem(description: "there is no \(name); scripts/install test installs it")
  }

  private init() throws(Problem) {
    directory = "/tmp/roost-postgres-\(UUID().uuidString.prefix(8))"
    let (initdb, postgres) = (try Self.binary("initdb"), try Self.binary("postgres"))
    try Self.run(Self.asServer("mkdir -m 755 \(directory)"))
    // Nothing has to survive the machine here.
    try Self.run(
      Self.asServer(
        "\(initdb) -D \(directory)/data -A trust -U roost --no-sync -E UTF8 --locale=C >/dev/null"))
    // Tests run beside each other, each with a connection of its own.
    let script =
      "\(postgres) -D \(directory)/data -k \(directory) -c listen_addresses= -c fsync=off -c max_connections=800 >\(directory)/log 2>&1 & "
      + "cat >/dev/null; kill -QUIT $!; wait $!; rm -rf \(directory)"
    // Its end is the end of this process: it is never closed.
    guard popen(Self.line(Self.asServer(script)) + " >/dev/null 2>&1", "we") != nil else {
      throw Problem(description: "the server can't be started")
    }
    for _ in 0..<200 {
      if (try? query("SELECT 1", in: "postgres")) == "1" { return }
      usleep(50_000)
    }
    throw Problem(description: "it doesn't answer")
  }

  /// PostgreSQL doesn't run as root.
  private static func asServer(_ script: String) -> [String] {
    let shell = ["/bin/sh", "-c", script]
    return geteuid() == 0 ? ["/usr/sbin/runuser", "-u", "postgres", "--"] + shell : shell
  }

  /// For a shell, each part as it is.
  private static func line(_ command: [String]) -> String {
    command.map {
      "'" + $0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    .joined(separator: " ")
  }

  /// By `popen`: Foundation's `Process` reads the list of open files first, and crashes where they are more than a thousand, as with
  /// many media engines at once.
  /// - Returns: what it prints.
  @discardableResult
  private static func run(_ command: [String]) throws(Problem) -> String {
    guard let stream = popen(line(command) + " </dev/null 2>&1", "re") else {
      throw Problem(description: "\(command[0]) can't be started")
    }
    var output: [UInt8] = []
    let size = 4_096
    var buffer = [UInt8](repeating: 0, count: size)
    while true {
      let count = fread(&buffer, 1, size, stream)
      guard count > 0 else { break }
      output += buffer[..<count]
    }
    let status = pclose(stream)
    let trimmed = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard status == 0 else { throw Problem(description: trimmed) }
    return trimmed
  }

  /// What psql answers.
  @discardableResult
  public func query(_ sql: String, in database: String) throws(Problem) -> String {
    try Self.run([
      try Self.binary("psql"), "-X", "-A", "-t", "-q", "-h", directory, "-U", "roost", "-d", database, "-c",
      sql,
    ])
  }

  /// An empty database.
  /// - Returns: its name and the connection string.
  public func makeDatabase(_ options: String = "") throws(Problem) -> (name: String, text: String) {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let name = "test\(number)"
    try query("CREATE DATABASE \(name) \(options)", in: "postgres")
    return (name, "host=\(directory) user=roost dbname=\(name)")
  }
}
