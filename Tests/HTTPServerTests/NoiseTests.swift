import Glibc
import HTTPServer
import Model
import Testing

@Suite("Noise, over real sockets", .timeLimit(.minutes(2)))
struct NoiseTests {
  /// The same bytes in every run (a linear congruential generator of Knuth's).
  private struct Noise: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 33
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in .random(in: 0...255, using: &self) }
    }

    /// A few bytes changed, dropped or doubled.
    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      for _ in 0..<Int.random(in: 1...6, using: &self) where !bytes.isEmpty {
        let index = Int.random(in: bytes.indices, using: &self)
        switch Int.random(in: 0..<4, using: &self) {
        case 0: bytes[index] = .random(in: 0...255, using: &self)
        case 1: bytes[index] = Array("\r\n\0: ,%".utf8).randomElement(using: &self) ?? 0
        case 2: bytes.remove(at: index)
        default: bytes.insert(contentsOf: bytes[..<index], at: index)
        }
      }
      return bytes
    }
  }

  private static let requests = [
    "GET /a%2Fb?c=d HTTP/1.1\r\nHost: h\r\nCookie: a=b; c=\"d\"\r\n\r\n",
    "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\nContent-Type: text/plain\r\n\r\nhello world",
    "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nT: x\r\n\r\n",
    "PUT /q HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab",
    "GET http://h/x HTTP/1.0\r\nConnection: keep-alive\r\nX: folded\r\n too\r\n\r\n",
    TestClient.handshake("/"),
  ]

  private static let frames: [[UInt8]] = [
    clientFrame(1, Array("hello".utf8)), clientFrame(1, [UInt8](repeating: 120, count: 300)),
    clientFrame(1, [65], final: false) + clientFrame(9, [1]) + clientFrame(0, [66]),
    clientFrame(8, [3, 0xE8] + Array("bye".utf8)), clientFrame(10, []), clientFrame(2, [1, 2]),
  ]

  @Test func `nothing that comes keeps the server from serving`() async throws {
    try await withServer(EchoHandler()) {
      $0.headTime = .milliseconds(500)
      $0.bodyTime = .milliseconds(500)
      $0.closeTime = .milliseconds(100)
    } _: { addresses in
      var noise = Noise(state: 1)
      for round in 0..<1500 {
        let client = try TestClient(addresses[round % 2])
        switch round % 4 {
        case 0: client.send(noise.bytes(Int.random(in: 1...3000, using: &noise)))
        case 1:
          let text = Self.requests.randomElement(using: &noise) ?? ""
          client.send(noise.damaged(Array((text + text).utf8)))
        case 2:
          #expect(try client.open("/").status == 101)
          client.send(noise.bytes(Int.random(in: 1...3000, using: &noise)))
        default:
          #expect(try client.open("/").status == 101)
          for _ in 0..<5 { client.send(noise.damaged(Self.frames.randomElement(using: &noise) ?? [])) }
        }
        if Bool.random(using: &noise) { client.reset() }
      }
      for address in addresses {
        let client = try TestClient(address)
        client.send("GET /still HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer().status == 200)
      }
    }
  }
}
