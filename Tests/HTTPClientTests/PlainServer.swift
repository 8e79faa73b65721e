import Foundation
import Glibc
import HTTPClient

/// A server that says to each client what it is given, byte by byte as it is, whatever was asked.
final class PlainServer: Sendable {
  /// What is done to a client once its request's head has come.
  typealias Deed = @Sendable (Int32) -> Void

  let url: HTTPURL
  private let listener: Int32

  /// - Parameter deed: on a thread of the client's own; the connection ends when it returns.
  init(_ deed: @escaping Deed) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port: UInt16? = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        guard bind(listener, $0, size) == 0, getsockname(listener, $0, &size) == 0 else { return nil }
        return UInt16(bigEndian: UnsafeRawPointer($0).loadUnaligned(fromByteOffset: 2, as: UInt16.self))
      }
    }
    guard let port, listen(listener, 16) == 0, let url = HTTPURL("http://127.0.0.1:\(port)") else {
      close(listener)
      throw POSIXError(.EADDRINUSE)
    }
    self.url = url
    self.listener = listener
    Thread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else {
          // Here alone: closed elsewhere its number could be another server's by now.
          close(listener)
          return
        }
        Thread {
          var head: [UInt8] = []
          var byte: UInt8 = 0
          while !head.suffix(4).elementsEqual([13, 10, 13, 10]), recv(client, &byte, 1, 0) == 1 {
            head.append(byte)
          }
          deed(client)
          close(client)
        }.start()
      }
    }.start()
  }

  /// No client comes any more.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// - Returns: false once the client has gone.
  @discardableResult
  static func say(_ text: String, to client: Int32) -> Bool {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        send(client, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }
}
