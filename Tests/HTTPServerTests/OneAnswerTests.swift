import Glibc
import HTTPServer
import Model
import Testing

/// What is read neither by libmicrohttpd nor by the server's own rules is refused once.
@Suite("One answer to what is refused, over real sockets", .timeLimit(.minutes(1)))
struct OneAnswerTests {
  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nX: y\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nNoColon\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400),
    ("GET /\r\n\r\n", 400),
    ("GET / a b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / FTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("GET / HTTP/0.9\r\n\r\n", 505),
    ("GET / HTTP/1.2\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +12\r\n\r\nhello world!", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 12x\r\n\r\nhello world!", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3, 3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n", 413),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\nabcGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked \r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\n\r\n", 400),
    (
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nhello\r\n", 413
    ),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "x", count: 100_000), 431),
    ("GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: y\r\n", count: 5_000) + "\r\n", 431),
    ("GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X:\r\n", count: 3_000) + "\r\n", 431),
    (
      "GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: y\r\n", count: 95) + "Cookie: "
        + String(repeating: "x", count: 14_500) + "\r\n\r\n", 431
    ),
    ("GET /" + String(repeating: "x", count: 100_000), 414),
    ("GET /" + String(repeating: "x", count: 100_000) + " HTTP/1.1\r\nHost: h\r\n\r\n", 414),
  ])
  func `what is refused has one answer, and then the end`(text: String, status: Int) async throws {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      // Whole and in pieces: what is refused while more is to be read takes another way.
      for piece in [Int.max, 7, 1] where text.utf8.count < 1_000 || piece == .max {
        let client = try TestClient(addresses[0])
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
          client.send(Array(rest.prefix(piece)))
          rest = rest.dropFirst(piece)
          if !rest.isEmpty { usleep(200) }
        }
        let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
        let isOne = isOneAnswer(answer, status: status)
        #expect(isOne, "\(text.prefix(90).debugDescription) by \(piece): \(answer.debugDescription)")
      }
      #expect(handler.started.value == 0)
    }
  }
}

extension OneAnswerTests {
  @Test func `a request that is refused ends no other`() async throws {
    try await withServer(EchoHandler()) { addresses in
      // Half of a head each, which libmicrohttpd has begun to read.
      let others = try (0..<20).map { _ in try TestClient(addresses[0]) }
      for other in others { other.send("POST /p HTTP/1.1\r\nContent-Length: 1\r\n") }
      usleep(50_000)
      for _ in 0..<20 {
        let client = try TestClient(addresses[1])
        client.send("POST / HTTP/1.1\r\nHost: h\r\n")
        usleep(2_000)
        client.send("Content-Length: x\r\n\r\n")
        let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(isOneAnswer(answer, status: 400) && answer.contains("urn:roost:problem:length"))
      }
      for other in others {
        other.send("Host: h\r\n\r\na")
        #expect(try other.answer().status == 200)
      }
    }
  }
}

/// Whether it is a head that says that the connection closes, then as many bytes as that says, and nothing else.
private func isOneAnswer(_ text: String, status: Int) -> Bool {
  let parts = text.split(
    separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
  guard parts.count == 2 else { return false }
  let lines = parts[0].split(separator: "\r\n").map { $0.lowercased() }
  let said = { (name: String) in lines.filter { $0.hasPrefix(name) } }
  return lines[0].hasPrefix("http/1.1 \(status) ") && said("http/").count == 1
    && said("connection:") == ["connection: close"]
    && said("content-length:") == ["content-length: \(parts[1].utf8.count)"]
}
