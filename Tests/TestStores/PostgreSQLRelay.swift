import Foundation
import Glibc
public import Storage
import Synchronization

/// Stands between a store and its PostgreSQL server, and cuts the connection at the next COMMIT if a test says so.
public final class PostgreSQLRelay: Sendable {
  /// When a connection is cut.
  public enum Cut: Sendable {
    /// Before the server has heard of it: nothing of the transaction is done.
    case beforeCommit
    /// Once the server has answered, which the store doesn't hear: all of it is done.
    case behindCommit
  }

  public struct Problem: Error, CustomStringConvertible { public let description: String }

  /// What its threads have.
  private final class Shared: Sendable {
    let server: String
    let cut = Mutex<Cut?>(nil)
    let count = Mutex(0)

    init(_ server: String) { self.server = server }

    /// - Returns: nil: nothing is to be cut.
    func takeCut() -> Cut? {
      let wanted = cut.withLock { cut in
        defer { cut = nil }
        return cut
      }
      if wanted != nil { count.withLock { $0 += 1 } }
      return wanted
    }
  }

  /// An empty database, through this.
  public let location: StoreLocation
  private let directory: String
  private let listener: Int32
  private let shared: Shared

  private static let name = ".s.PGSQL.5432"
  private static let word = Array("COMMIT".utf8) + [0]

  public init() throws {
    let server = try PostgreSQLServer.shared()
    let database = try server.makeDatabase().name
    let place = "/tmp/roost-relay-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let opened = Self.open("\(place)/\(Self.name)") { bind($0, $1, $2) }
    guard let opened, listen(opened, 16) == 0 else {
      throw Problem(description: "no socket can be made in \(place)")
    }
    let shared = Shared("\(server.directory)/\(Self.name)")
    location = .postgreSQL("host=\(place) user=roost dbname=\(database)")
    (directory, listener) = (place, opened)
    self.shared = shared
    Thread { Self.take(opened, shared) }.start()
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// The next transaction that is to be committed is the last of its connection.
  public func cut(_ moment: Cut) { shared.cut.withLock { $0 = moment } }

  /// Connections that were cut.
  public var count: Int { shared.count.withLock { $0 } }

  // MARK: - On its threads

  private static func take(_ listener: Int32, _ shared: Shared) {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else {
        // Here alone: closed elsewhere its number could be another's by now.
        close(listener)
        return
      }
      Thread {
        if let server = open(shared.server, { connect($0, $1, $2) }) {
          carry(client, server, shared)
          close(server)
        }
        close(client)
      }.start()
    }
  }

  /// Hands on what either side says, until one of them ends or the connection is cut.
  private static func carry(_ client: Int32, _ server: Int32, _ shared: Shared) {
    while true {
      var watched = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&watched, 2, -1) > 0 else { return }
      if watched[1].revents != 0 {
        guard let bytes = heard(from: server), say(bytes, to: client) else { return }
      }
      if watched[0].revents != 0 {
        guard let bytes = heard(from: client) else { return }
        let cut = isCommit(bytes) ? shared.takeCut() : nil
        if cut == .beforeCommit { return }
        guard say(bytes, to: server) else { return }
        if cut == .behindCommit {
          // Its answer comes once it is done.
          _ = heard(from: server)
          return
        }
      }
    }
  }

  private static func isCommit(_ bytes: [UInt8]) -> Bool {
    bytes.count >= word.count
      && (0...(bytes.count - word.count)).contains { bytes[$0..<($0 + word.count)].elementsEqual(word) }
  }

  /// - Returns: nil: that side has ended.
  private static func heard(from descriptor: Int32) -> [UInt8]? {
    let size = 65_536
    var bytes = [UInt8](repeating: 0, count: size)
    let count = recv(descriptor, &bytes, size, 0)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  private static func say(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        send(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// A socket at a path.
  /// - Parameter body: what is done with it there; 0: it is.
  private static func open(
    _ path: String, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { place in
      // One is left for the end of the text.
      place.copyBytes(from: path.utf8.prefix(place.count - 1))
    }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(descriptor, $0, size) }
    }
    guard code == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}
