import Crypto
import Foundation
import Glibc
import HTTPClient
import Model
import Push
import Synchronization
import TestScripts

/// Apple's push service, as `Tests/Server/apns_server.py` plays it.
final class APNsService: Sendable {
  struct Problem: Error, CustomStringConvertible { let description: String }

  /// What becomes of a push; nothing said: it is taken.
  struct Step: Encodable {
    var status: Int?
    var reason: String?
    var timestamp: Int64?
    var headers: [String: String]?
    var body: String?
    var size: Int?
    var delay: Double?
    var lost: Bool?
    var reset: Int?
    var goaway: String?
  }

  struct Request: Decodable, Sendable {
    var connection: Int
    var stream: Int
    /// Seconds since its start.
    var at: Double
    var method: String
    var path: String
    var headers: [String: String]
    var body: String
    /// 0: it has no answer.
    var status: Int

    func isFor(_ device: Int) -> Bool { path == "/3/device/" + Sample.token(device) }
  }

  struct Report: Decodable, Sendable {
    var connections: Int
    var open: Int
    var mostStreams: Int
    /// How many provider tokens have come.
    var tokens: Int
    var requests: [Request]

    var pushes: [Request] { requests.filter { $0.method == "POST" } }
    func pushes(to device: Int) -> [Request] { pushes.filter { $0.isFor(device) } }
  }

  private struct Order: Encodable {
    var `do`: String
    var token: String?
    var steps: [Step]?
    var first: Int?
    var then: Int?
  }

  private struct Start: Decodable { var port: Int }

  let terms: APNsTerms
  private let folder: URL
  private let input: FileHandle
  private let output: LineReader
  private let process: Child

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "roost-apns-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (server, signer) = (try Self.identity(), try Self.identity())
    for (name, text) in [
      ("server.pem", server.certificates), ("key.pem", server.privateKey),
      ("signer.pem", signer.certificates),
    ] { try Data(text.utf8).write(to: folder.appending(path: name)) }

    process = try Child(
      "/usr/bin/python3",
      [Script.root.appending(path: "Tests/Server/apns_server.py").path]
        + ["server.pem", "key.pem", "signer.pem"].map { [folder] in folder.appending(path: $0).path })
    input = process.input
    let lines = LineReader(process.output)
    self.output = lines

    var terms = APNsTerms(
      key: try SigningKey(pem: signer.privateKey), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    terms.trust = .file(folder.appending(path: "server.pem").path)
    (terms.patience, terms.readiness) = (.seconds(5), nil)
    let port = try JSONDecoder().decode(Start.self, from: Data(lines.next())).port
    guard let url = HTTPURL("https://127.0.0.1:\(port)") else { throw Problem(description: "no port") }
    terms.addresses = [.production: url]
    self.terms = terms
  }

  private static func identity() throws -> TLSIdentity {
    try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: [], notBefore: 1_700_000_000,
      notAfter: 4_000_000_000)
  }

  /// It ends with its input.
  func stop() {
    try? input.close()
    process.wait()
    try? FileManager.default.removeItem(at: folder)
  }

  // MARK: What it is asked

  /// What becomes of pushes to a device, one after the other; the last holds on.
  func script(_ device: Int, _ steps: Step...) throws {
    try ask(Order(do: "script", token: Sample.token(device), steps: steps))
  }

  /// How many a connection may have at first, and once a good provider token has come.
  func streams(first: Int, then: Int) throws { try ask(Order(do: "streams", first: first, then: then)) }

  /// Every connection is about to be closed.
  func goaway() throws { try ask(Order(do: "goaway")) }

  /// Every connection breaks off.
  func abort() throws { try ask(Order(do: "abort")) }

  /// Every connection swallows what comes; new ones don't.
  func freeze() throws { try ask(Order(do: "freeze")) }

  /// The provider tokens that have come are too old.
  func expire() throws { try ask(Order(do: "expire")) }

  func report() throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(try ask(Order(do: "report"))))
  }

  /// Returns once so many pushes have come.
  func wait(for count: Int) async throws {
    for _ in 0..<1_000 {
      if try report().pushes.count >= count { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw Problem(description: "\(try report().pushes.count) pushes in place of \(count)")
  }

  @discardableResult
  private func ask(_ order: Order) throws -> [UInt8] {
    let text = try JSONEncoder().encode(order) + Data("\n".utf8)
    try input.write(contentsOf: text)
    return try output.next()
  }
}

/// Reads what a process prints, line by line.
private final class LineReader: Sendable {
  private let file: FileHandle
  /// What has come of the next line.
  private let rest = Mutex<[UInt8]>([])

  init(_ file: FileHandle) { self.file = file }

  /// Waits for it.
  func next() throws -> [UInt8] {
    try rest.withLock { rest in
      while true {
        if let end = rest.firstIndex(of: 10) {
          let line = Array(rest[..<end])
          rest.removeSubrange(...end)
          return line
        }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = read(file.fileDescriptor, &piece, piece.count)
        guard count > 0 else { throw APNsService.Problem(description: "the service has ended") }
        rest += piece[..<count]
      }
    }
  }
}
