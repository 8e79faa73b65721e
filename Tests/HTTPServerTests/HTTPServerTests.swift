import Glibc
import HTTPServer
import Model
import Testing

@Suite("HTTP server, over real sockets", .timeLimit(.minutes(2)))
struct HTTPServerTests {
  @Test func `every method with a body goes through one kept connection, on both families`() async throws {
    try await withServer { addresses in
      for (index, address) in addresses.enumerated() {
        let client = try TestClient(address)
        for method in HTTPMethod.allCases {
          client.send("\(method.rawValue) /p?q=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")
          let answer = try client.answer(head: method == .head)
          #expect(answer.status == 200)
          let expected = "\(method.rawValue) /p q=1 \(address.host) \(index) body"
          if method == .head {
            #expect(answer.head.contains("content-length: \(expected.utf8.count)\r\n"))
          } else {
            #expect(answer.body == expected)
          }
          #expect(answer.head.contains("\r\ndate: ") && answer.head.contains(" GMT\r\n"))
        }
      }
    }
  }

  @Test func `path and query arrive as they were sent`() async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0])
      for (target, expected) in [
        ("/v1/a%2Fb%20?t=%2f+%41&u=1&u=2", "/v1/a%2Fb%20 t=%2f+%41&u=1&u=2"),
        ("/%00%ff//..;x", "/%00%ff//..;x "), ("http://other/p?a", "/p a"), ("/?", "/ "),
        ("/a?b?c=&&", "/a b?c=&&"),
      ] {
        client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer().body == "GET \(expected) 127.0.0.1 0 ")
      }
    }
  }

  @Test(arguments: [
    "GET /\0 HTTP/1.1", "GET /a\0b HTTP/1.1", "GET \0/ HTTP/1.1", "GET\0 / HTTP/1.1", "GET / HTTP/1.1\0",
    "GET /?a=\0 HTTP/1.1", "GET /\0",
  ])
  func `a zero byte in the request line is refused, and not where the line ends`(line: String) async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0])
      client.send("\(line)\r\nHost: h\r\n\r\n")
      #expect((400...501).contains(try client.answer().status))
      #expect(client.isClosed())
    }
  }

  @Test func `a chunked body is joined, and the connection goes on after it`() async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0])
      for _ in 0..<2 {
        client.send("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        client.send("A;extension\r\n0123456789\r\n0\r\ntrailer: x\r\n\r\n")
        #expect(try client.answer().body == "POST /c  127.0.0.1 0 abc0123456789")
      }
    }
  }

  @Test func `requests sent without waiting are answered in order`() async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0])
      let one = { (number: Int) in "POST /\(number) HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" }
      client.send((0..<50).map(one).joined())
      for number in 0..<50 { #expect(try client.answer().body == "POST /\(number)  127.0.0.1 0 abc") }
    }
  }

  @Test func `a request cut anywhere is the same request`() async throws {
    try await withServer { addresses in
      let text = Array("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab\r\n\r".utf8)
      let clients = try (1..<text.count).map { _ in try TestClient(addresses[0]) }
      for (index, client) in clients.enumerated() { client.send(Array(text[...index])) }
      usleep(50_000)
      for (index, client) in clients.enumerated() { client.send(Array(text[(index + 1)...])) }
      for client in clients { #expect(try client.answer().body.hasSuffix(" ab\r\n\r")) }
    }
  }

  @Test func `a request that expects 100 Continue gets it, or is refused before its body`() async throws {
    try await withServer(EchoHandler()) {
      $0.bodyBytes = 10
    } _: { addresses in
      let client = try TestClient(addresses[0])
      client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
      #expect(try client.answer().status == 100)
      client.send("ab")
      #expect(try client.answer().body.hasSuffix(" ab"))
      client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n")
      #expect(try client.answer().status == 413)
    }
  }

  @Test func `an answer's own fields are the server's, and no value starts another field`() async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0])
      client.send("GET /fields HTTP/1.1\r\nHost: h\r\n\r\n")
      let answer = try client.answer()
      #expect(answer.head.contains("location: /aset-cookie: x\r\n") && answer.body == "four")
      for absent in ["never", "upgrade", "content-length: 7", "\r\nset-cookie"] {
        #expect(!answer.head.contains(absent))
      }
      client.send("GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n")
      let nothing = try client.answer()
      #expect(nothing.status == 204 && !nothing.head.contains("content-length"))
      client.send("GET /missing HTTP/1.1\r\nHost: h\r\n\r\n")
      let missing = try client.answer()
      #expect(missing.status == 404 && missing.body == "no")
      client.send("HEAD /missing HTTP/1.1\r\nHost: h\r\n\r\nGET /p HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try client.answer(head: true).head.contains("content-length: 2\r\n"))
      #expect(try client.answer().status == 200)
    }
  }

  @Test func `connections are kept as the version and the client say`() async throws {
    try await withServer { addresses in
      for (text, isKept) in [
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: foo, Close\r\n\r\n", false),
        ("GET / HTTP/1.0\r\n\r\n", false), ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
      ] {
        let client = try TestClient(addresses[0])
        client.send(text)
        #expect(try client.answer().status == 200)
        if isKept {
          client.send(text)
          #expect(try client.answer().status == 200)
        } else {
          #expect(client.isClosed())
        }
      }
    }
  }

  @Test func `a large answer arrives whole at a client that reads late`() async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0], receiveBuffer: 4096)
      client.send("GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      usleep(100_000)
      #expect(try client.answer().body.utf8.count == 8_000_000)
      #expect(client.isClosed())
    }
  }

  @Test(arguments: [
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 501),
    ("BREW / HTTP/1.1\r\nHost: h\r\n\r\n", 501),
    ("GET x HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n", 400),
    ("GET / HTTP/3.0\r\n\r\n", 505),
    ("GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "x", count: 100_000), 431),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "x", count: 17_000) + "\r\n\r\n", 431),
    ("GET /" + String(repeating: "x", count: 100_000), 414),
    (
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n"
        + String(repeating: "x", count: 200_000),
      413
    ),
  ])
  func `what isn't served gets its answer although more keeps coming`(text: String, status: Int) async throws
  {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      let client = try TestClient(addresses[0])
      client.send(text)
      #expect(try client.answer().status == status)
      #expect(client.isClosed())
      #expect(handler.started.value == 0)
    }
  }

  @Test func `a chunked body over the limit is refused at once, whatever still comes`() async throws {
    let handler = EchoHandler()
    try await withServer(handler) {
      $0.bodyBytes = 1000
    } _: { addresses in
      for isGoingOn in [true, false] {
        let client = try TestClient(addresses[0])
        client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send("3E8\r\n" + String(repeating: "x", count: 1000) + "\r\n")
        usleep(50_000)
        client.send("1\r\nx\r\n")
        if isGoingOn {
          for _ in 0..<20 { client.send("3E8\r\n" + String(repeating: "x", count: 1000) + "\r\n") }
        }
        let answer = try client.answer()
        #expect(answer.status == 413)
        #expect(answer.body.contains("body-too-large"))
        #expect(client.isClosed())
      }
      #expect(handler.started.value == 0)
    }
  }

  @Test(arguments: [
    "X: a\0b\r\n", "X: a\0\r\n", "X:\0b\r\n", "X: \0\r\n", "X\0Y: b\r\n", "\0X: b\r\n", "X: a\r\nY: \0b\r\n",
    "Content-Length: 0\u{0}34\r\n", "Content-Length: 3\0\r\n", "X\0: a\r\n", "X: a\r\n\0: b\r\n",
    "X: a\r\n b\r\n",
  ])
  func `a zero byte hides nothing of a field`(lines: String) async throws {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      for text in ["Host: h\r\n\(lines)", "\(lines)Host: h\r\n"] {
        let client = try TestClient(addresses[0])
        client.send("POST / HTTP/1.1\r\n\(text)\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer().status == 400, "\(text.debugDescription)")
        #expect(client.isClosed())
      }
      #expect(handler.started.value == 0)
    }
  }

  @Test(arguments: ["Content-Length: 1\u{0}3\n", "X: a\u{0}b\n", "X: \u{0}\u{0}b\n"])
  func `a zero byte hides nothing of the last field, also where lines end by LF alone`(line: String)
    async throws
  {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      let client = try TestClient(addresses[0])
      client.send("POST / HTTP/1.1\nHost: h\n\(line)\n{GET /smuggled HTTP/1.1\nHost: h\n\n")
      #expect(try client.answer().status == 400)
      #expect(client.isClosed())
      #expect(handler.started.value == 0)
    }
  }

  @Test(arguments: ["X:a\r\n", "X: a \r\n", "X:\t a\t\r\n", "X:\r\n", "X: \r\nY:\r\n", "X: a:b\r\n"])
  func `spaces around a value, and none, are read`(lines: String) async throws {
    try await withServer { addresses in
      let client = try TestClient(addresses[0])
      for text in ["Host: h\r\n\(lines)", "\(lines)Host: h\r\n"] {
        client.send("GET /p HTTP/1.1\r\n\(text)\r\n")
        #expect(try client.answer().status == 200, "\(text.debugDescription)")
      }
    }
  }

  @Test func `a slow handler holds up no other`() async throws {
    let handler = EchoHandler()
    try await withServer(handler) { addresses in
      let slow = try (0..<20).map { _ in try TestClient(addresses[0]) }
      for client in slow { client.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n") }
      let quick = try TestClient(addresses[0])
      quick.send("GET /q HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try quick.answer().status == 200)
      handler.gate.open()
      for client in slow { #expect(try client.answer().status == 200) }
    }
  }

  @Test func `two hundred connections at once, and as many requests on each as it likes`() async throws {
    try await withServer { addresses in
      let clients = try (0..<200).map { _ in try TestClient(addresses[0]) }
      for round in 0..<5 {
        for client in clients { client.send("GET /\(round) HTTP/1.1\r\nHost: h\r\n\r\n") }
        for client in clients { #expect(try client.answer().body == "GET /\(round)  127.0.0.1 0 ") }
      }
      for client in clients[..<100] { client.reset() }
      for client in clients[100...] { client.send("GET /n HTTP/1.1\r\nHost: h\r\n\r\n") }
      for client in clients[100...] { #expect(try client.answer().status == 200) }
    }
  }

  @Test func `a taken port is reported with its reason`() throws {
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(listeners: loopback), handler: EchoHandler())
    #expect {
      try HTTPServer(
        configuration: HTTPServerConfiguration(listeners: [.init(server.addresses[0])]),
        handler: EchoHandler())
    } throws: { error in
      guard case HTTPServerError.cannotListen(let address, "bind", EADDRINUSE, _) = error else {
        return false
      }
      return address == server.addresses[0]
    }
  }
}
