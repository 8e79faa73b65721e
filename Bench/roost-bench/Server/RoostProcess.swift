import Dispatch
import Engine
import Foundation
import Glibc

/// The server as a process of its own, on ports of its own; it ends with this value, and with us.
final class RoostProcess {
  /// HTTP for clients and for the operator, UDP for media, all on 127.0.0.1.
  private(set) var port = 0
  private(set) var adminPort = 0
  let mediaPort: UInt16
  private let process = Process()
  private let log: URL
  private var endings: [any DispatchSourceSignal] = []
  private static let startTime = 20.0

  init(_ executable: String, workers: Int) throws(BenchError) {
    do {
      // Free a moment ago; nothing else here takes ports by number.
      mediaPort = try UDPSocket(port: 0, receiveBuffer: 65_536, sendBuffer: 65_536).port
      log = FileManager.default.temporaryDirectory.appending(path: "roost-bench-\(getpid())-\(mediaPort).log")
      guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
        throw BenchError.setup("no log at \(log.path)")
      }
      let output = try FileHandle(forWritingTo: log)
      process.executableURL = URL(filePath: executable)
      process.arguments = [
        "serve", "--dev", "--http.port=0", "--admin.port=0", "--media.port=\(mediaPort)",
        "--media.workers=\(workers)", "--log.level=info",
      ]
      process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("ROOST") }
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = output
      try process.run()
    } catch {
      throw .setup("no server from \(executable): \(error)")
    }
    endWithUs()
    let deadline = Date().addingTimeInterval(Self.startTime)
    while port == 0 {
      usleep(10_000)
      guard process.isRunning, Date() < deadline else {
        let said = text
        end()
        throw .setup("the server does not start:\n\(said)")
      }
      adminPort = Self.port(in: text, after: "admin listener ready address=127.0.0.1:") ?? 0
      // The last that it says at its start.
      guard let ready = text.range(of: "Roost is ready") else { continue }
      port = Self.port(in: String(text[ready.upperBound...]), after: "http://127.0.0.1:") ?? 0
    }
  }

  deinit { end() }

  var identifier: pid_t { process.processIdentifier }

  func end() {
    guard process.isRunning else { return }
    process.interrupt()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: log)
  }

  /// A server that is no longer measured must not go on.
  private func endWithUs() {
    let child = process.processIdentifier
    endings = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        kill(child, SIGKILL)
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  private var text: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

  private static func port(in text: String, after prefix: String) -> Int? {
    text.range(of: prefix).flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) }
  }

  // MARK: - What it counts

  /// A counter's sum over all workers, as the operator's port tells it.
  static func counter(_ name: String, adminPort: Int) -> Int? {
    guard let page = page(port: adminPort, path: "/metrics") else { return nil }
    let values = page.split(separator: "\n").filter { $0.hasPrefix(name + "{") || $0.hasPrefix(name + " ") }
      .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
    return values.isEmpty ? nil : Int(values.reduce(0, +))
  }

  /// The answer to a GET, head and all.
  private static func page(port: Int, path: String) -> String? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    guard connected == 0, write(descriptor, request, request.utf8.count) == request.utf8.count else {
      return nil
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
