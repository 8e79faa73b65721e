import Glibc
import HTTPServer
import Model
import Testing

@Suite("WebSockets, over real sockets", .timeLimit(.minutes(2)))
struct WebSocketTests {
  private func withSocket(
    _ path: String = "/", _ change: (inout HTTPLimits) -> Void = { _ in },
    _ body: @escaping @Sendable (TestClient) throws -> Void
  ) async throws {
    try await withServer(EchoHandler(), change) { addresses in
      let client = try TestClient(addresses[0])
      #expect(try client.open(path).status == 101)
      try body(client)
    }
  }

  @Test func `the handshake is answered`() async throws {
    try await withServer { addresses in
      let answer = try TestClient(addresses[1]).open("/")
      #expect(answer.head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
      for field in [
        "sec-websocket-protocol: roost.v1", "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        "upgrade: websocket", "connection: Upgrade",
      ] {
        #expect(answer.head.contains("\r\n\(field)\r\n"))
      }
      #expect(!answer.head.contains("content-length"))
    }
  }

  @Test(arguments: [("/missing", "roost.v1", 403), ("/", "roost.v2", 400), ("/", nil, 400)])
  func `an upgrade is refused with a status, and the connection goes on`(
    path: String, subprotocol: String?, status: Int
  ) async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0])
      #expect(try client.open(path, subprotocol: subprotocol).status == status)
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try client.answer().status == 200)
      #expect(try client.open("/").status == 101)
    }
  }

  @Test func `another version is answered with the one that is spoken`() async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0])
      client.send(TestClient.handshake("/").replacing("13", with: "8"))
      let answer = try client.answer()
      #expect(answer.status == 426 && answer.head.contains("sec-websocket-version: 13\r\n"))
    }
  }

  @Test func `the decision may take its time, and frames that came before it are read`() async throws {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      let client = try TestClient(addresses[0])
      client.send(Array(TestClient.handshake("/slow").utf8) + clientFrame(1, Array("early".utf8)))
      #expect(!client.isClosed(within: .milliseconds(100)))
      handler.gate.open()
      #expect(try client.answer().status == 101)
      client.send(clientFrame(1, Array("late".utf8)))
      #expect(try client.text() == "echo early")
      #expect(try client.text() == "echo late")
    }
  }

  @Test(arguments: ["close", "reset", "end", "ours"])
  func `a client's close is distinguished from a connection that broke`(way: String) async throws {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      let client = try TestClient(addresses[0])
      #expect(try client.open("/").status == 101)
      client.send(clientFrame(1, Array("hello".utf8)))
      #expect(try client.text() == "echo hello")
      switch way {
      case "close": client.send(clientFrame(8, [0x03, 0xE8]))
      case "reset": client.reset()
      case "end": client.finish()
      default: client.send(clientFrame(1, Array("return".utf8)))
      }
      #expect(waitUntil { handler.endedSockets.value == 1 })
      #expect(handler.closedByClient.value == (way == "close" ? 1 : 0))
    }
  }

  @Test(arguments: [0, 125, 126, 65_535, 65_536, 262_139])
  func `each form of length is read and written`(size: Int) async throws {
    try await withSocket { client throws in
      client.send(clientFrame(1, [UInt8](repeating: 120, count: size)))
      #expect(try client.text() == "echo " + String(repeating: "x", count: size))
    }
  }

  @Test func `a message is joined from fragments with pings between, cut anywhere`() async throws {
    try await withSocket { client throws in
      let bytes =
        clientFrame(1, Array("Grü".utf8.dropLast()), final: false) + clientFrame(9, [7])
        + clientFrame(0, [], final: false) + clientFrame(0, [0xBC] + Array("ße".utf8))
      for size in 1...bytes.count {
        for start in stride(from: 0, to: bytes.count, by: size) {
          client.send(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        let pong = try client.frame()
        #expect(pong.opcode == 10 && pong.payload == [7])
        #expect(try client.text() == "echo Grüße")
      }
    }
  }

  @Test func `many messages arrive whole and in order before the close`() async throws {
    try await withSocket("/many") { client throws in
      for number in 0..<1000 { #expect(try client.text() == "\(number)") }
      #expect(try client.closeCode() == 1000)
    }
  }

  /// A message that doesn't end.
  static func fragments(_ count: Int, of size: Int) -> [UInt8] {
    let payload = [UInt8](repeating: 65, count: size)
    return (0..<count).flatMap { clientFrame($0 == 0 ? 1 : 0, payload, final: false) }
  }

  static let bad: [(Int, [UInt8])] = [
    (1002, clientFrame(1, [65], mask: false)), (1002, [0xC1, 0x81, 0, 0, 0, 0, 65]),
    (1002, clientFrame(0, [65])), (1002, clientFrame(1, [65], final: false) + clientFrame(1, [65])),
    (1002, clientFrame(8, [3, 0xEC])), (1002, clientFrame(8, [0, 5])),
    (1007, clientFrame(8, [3, 0xE8, 0xFF])),
    (1003, clientFrame(2, [1])), (1003, clientFrame(2, [1], final: false)),
    (1007, clientFrame(1, [0xFF])), (1007, clientFrame(1, [0xC3])),
    (1007, clientFrame(1, [0xED, 0xA0, 0x80])),
    (1009, clientFrame(1, [UInt8](repeating: 65, count: 262_145))),
    (1009, [0x81, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0] + [1, 2, 3, 4, 5]),
    (1009, fragments(3, of: 100_000)),
    (1009, fragments(5000, of: 1)),
    // wslay answers what is no frame at all without a code.
    (1002, clientFrame(3, [1])), (1005, clientFrame(9, [1], final: false)),
    (1005, [0x89, 0xFE, 0, 126]), (1005, [0x81, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 1]),
  ]

  @Test(arguments: bad)
  func `a bad frame closes with its code, although more keeps coming`(code: Int, bytes: [UInt8]) async throws
  {
    try await withSocket { client throws in
      client.send(bytes)
      client.send([UInt8](repeating: 0, count: 100_000))
      let closeCode = try client.closeCode()
      #expect(closeCode == code, "\(bytes.prefix(20))")
      #expect(client.isClosed())
    }
  }

  @Test func `the client's close is echoed with its code`() async throws {
    for payload: [UInt8] in [[0x0F, 0xA1] + Array("bye".utf8), []] {
      try await withSocket { client throws in
        client.send(clientFrame(8, payload))
        let frame = try client.frame()
        #expect(frame.opcode == 8 && frame.payload == payload)
        #expect(client.isClosed(within: .seconds(1)))
      }
    }
  }

  @Test func `the handler closes by code or by returning`() async throws {
    for (message, code) in [("close", 4005), ("return", 1000)] {
      try await withSocket { client throws in
        client.send(clientFrame(1, Array(message.utf8)))
        let frame = try client.frame()
        #expect(frame.opcode == 8 && frame.payload.prefix(2) == [UInt8(code >> 8), UInt8(code & 255)])
        // A long reason is cut at a character's border.
        let reason = String(validating: frame.payload.dropFirst(2), as: UTF8.self)
        #expect(reason == (code == 4005 ? String(repeating: "ä", count: 61) : ""))
        client.send(clientFrame(1, [65]) + clientFrame(8, Array(frame.payload.prefix(2))))
        #expect(client.isClosed(within: .seconds(1)))
      }
    }
  }

  @Test func `a client that doesn't answer a close is cut`() async throws {
    try await withSocket("/") {
      $0.closeTime = .milliseconds(200)
    } _: { client throws in
      client.send(clientFrame(1, Array("return".utf8)))
      #expect(try client.closeCode() == 1000)
      #expect(client.isClosed(within: .seconds(2)))
    }
  }

  @Test func `a client that doesn't read is closed with 1013, and the sender never waits`() async throws {
    try await withSocket("/flood") {
      $0.queuedBytes = 200_000
    } _: { client throws in
      usleep(300_000)
      #expect(try client.closeCode() == 1013)
    }
  }

  @Test func `what a session begins with doesn't count among what waits, and all that comes after it does`()
    async throws
  {
    try await withServer {
      $0.queuedBytes = 200_000
    } _: { addresses in
      let client = try TestClient(addresses[0], receiveBuffer: 4096)
      _ = try client.open("/opening")
      usleep(300_000)
      for number in 0..<40 {
        #expect(try client.text().utf8.count == 400_000, "\(number)")
      }
      #expect(try client.text() == "and on")
      client.send(clientFrame(1, Array("flood".utf8)))
      usleep(300_000)
      #expect(try client.closeCode() == 1013)
    }
  }

  @Test func `a closing WebSocket has its time, however steadily a client reads what waits`() async throws {
    try await withServer {
      $0.closeTime = .seconds(1)
    } _: { addresses in
      let client = try TestClient(addresses[0], receiveBuffer: 65_536)
      _ = try client.open("/farewell")
      var bytes = 0
      for _ in 0..<300 {
        guard let count = try? client.readSome(32_768), count > 0 else { break }
        bytes += count
        usleep(10_000)
      }
      while let count = try? client.readSome(1_000_000), count > 0 { bytes += count }
      #expect(bytes < 20_000_000, "all of it has come")
    }
  }

  @Test func `queued messages are dropped, and one sent after that precedes the close`() async throws {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      let client = try TestClient(addresses[0])
      _ = try client.open("/dropping")
      #expect(waitUntil { handler.dropped.value == 1 })
      var texts: [String] = []
      while true {
        let frame = try client.frame()
        guard frame.opcode == 1 else { break }
        texts.append(String(decoding: frame.payload.prefix(8), as: UTF8.self))
      }
      // One that had begun to leave, and what TCP had taken before.
      #expect(texts.last == "farewell" && texts.count < 20)
    }
  }

  @Test func `what all sessions begin with is bounded, and counts until it is taken or dropped`()
    async throws
  {
    try await withServer {
      $0.openingBytes = 1_000_000
    } _: { addresses in
      for _ in 0..<4 {
        let late = try TestClient(addresses[0], receiveBuffer: 4096)
        _ = try late.open("/opening")
        usleep(100_000)
        #expect(try late.closeCode() == 1013)
        let other = try TestClient(addresses[0])
        _ = try other.open("/greeting")
        #expect(try other.text().utf8.count == 900_000)
        #expect(try other.closeCode() == 1000)
      }
    }
  }

  @Test func `a client that never reads is cut`() async throws {
    let handler = EchoHandler()
    try await withServer(handler) {
      $0.writeTime = .milliseconds(300)
      $0.closeTime = .milliseconds(300)
    } _: { addresses in
      let client = try TestClient(addresses[0], receiveBuffer: 4096)
      _ = try client.open("/flood")
      #expect(waitUntil { handler.endedSockets.value == 1 })
      usleep(1_000_000)
      #expect(throws: TestClient.ClientError.self) { try client.closeCode() }
    }
  }

  @Test func `a flood of pings is answered as fast as it is read, no faster`() async throws {
    try await withSocket { client throws in
      let flood = (0..<20_000).flatMap { _ in clientFrame(9, [1, 2, 3]) }
      client.send(flood + clientFrame(1, Array("after".utf8)))
      #expect(try client.text() == "echo after")
    }
  }

  @Test func `a handler that doesn't read is not buried`() async throws {
    try await withSocket("/deaf") {
      $0.queuedMessages = 50
    } _: { client throws in
      for _ in 0..<60 { client.send(clientFrame(1, [65])) }
      #expect(try client.closeCode() == 1013)
    }
  }

  @Test func `messages that wait before authentication are bounded by their bytes`() async throws {
    let message = clientFrame(1, [UInt8](repeating: 65, count: 8_192))
    try await withSocket("/stranger") { client throws in
      // Two have exactly the 16 KiB that are allowed.
      client.send(message + message)
      #expect(!client.isClosed(within: .milliseconds(200)))
      client.send(message)
      #expect(try client.closeCode() == 1013)
    }
    try await withSocket("/deaf") { client throws in
      client.send(message + message + message)
      #expect(!client.isClosed(within: .milliseconds(200)))
    }
  }

  @Test func `before authentication a message has at most 16 KiB`() async throws {
    for path in ["/stranger", "/deaf"] {
      try await withSocket(path) { client throws in
        client.send(clientFrame(1, [UInt8](repeating: 65, count: 16_384)))
        #expect(!client.isClosed(within: .milliseconds(200)), "\(path)")
      }
    }
    // Refused by its length, in one frame or in two, and not because it would wait.
    for frames in [clientFrame(1, [UInt8](repeating: 65, count: 16_385)), Self.fragments(2, of: 8_193)] {
      try await withSocket("/stranger") { client throws in
        client.send(frames)
        #expect(try client.closeCode() == 1009)
      }
      try await withSocket("/deaf") { client throws in
        client.send(frames)
        #expect(!client.isClosed(within: .milliseconds(200)))
      }
    }
  }

  @Test func `a connection torn off ends its handler`() async throws {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      for index in 0..<30 {
        let client = try TestClient(addresses[0])
        _ = try client.open("/")
        if index % 2 == 0 { client.reset() } else { client.send(Array(clientFrame(1, [65, 66]).prefix(5))) }
      }
      #expect(waitUntil { handler.endedSockets.value == 30 })
    }
  }

  @Test func `silence is pinged and then ended`() async throws {
    try await withSocket("/") {
      $0.ping.interval = .milliseconds(100)
      $0.ping.answerTime = .milliseconds(200)
    } _: { client throws in
      for _ in 0..<5 {
        #expect(try client.frame().opcode == 9)
        client.send(clientFrame(10, []))
      }
      #expect(try client.frame().opcode == 9)
      #expect(client.isClosed(within: .seconds(1)))
    }
  }
}
