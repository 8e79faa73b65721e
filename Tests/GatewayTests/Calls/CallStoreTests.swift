import Foundation
import HTTPServer
import Storage
import TestStores
import Testing

@testable import Gateway

@Suite("Calls whose store is gone", .timeLimit(.minutes(2)))
struct CallStoreTests {
  /// What is asked with the operations that need a body, where nothing is wrong with it.
  private func bodies() throws -> [String: String] {
    let id = SessionScene.uuid()
    let point = try CallHouse.point()
    return [
      "POST /v1/calls": #"{"id":"\#(id)","recipients":["bob"],"media":"audio"}"#,
      "PATCH /v1/calls/{call}": #"{"media":"video"}"#,
      "POST /v1/calls/{call}/invite": #"{"recipients":["zoe"]}"#,
      "POST /v1/calls/{call}/signals": #"{"id":"\#(id)","to":"bob","kind":"offer"}"#,
      "POST /v1/calls/{call}/keys": #"{"index":1,"keys":[]}"#,
      "PUT /v1/keys/{person}": #"{"device":"phone","algorithm":"p256","key":"\#(point)"}"#,
      "POST /v1/calls/{call}/sessions": #"{"id":"\#(id)","experience":"draw"}"#,
      "POST /v1/calls/{call}/sessions/{session}/owner": #"{"to":"bob"}"#,
      "POST /v1/calls/{call}/sessions/{session}/events": #"{"id":"\#(id)","type":"page"}"#,
      "PUT /v1/calls/{call}/sessions/{session}/snapshot": #"{"seq":1,"state":{}}"#,
      "PUT /v1/devices/{device}": #"{"platform":"webhook","token":"t"}"#,
    ]
  }

  @Test(arguments: StoreKind.allCases)
  func `whatever is asked meanwhile, read or written, is answered so, with when to come again`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind, isDirectoryOpen: true)
    let (id, _) = await calls.start("ada", "bob")
    #expect(await calls.join(id, "bob").status == 200)
    let session = SessionScene.uuid()
    let shared = #"{"id":"\#(session)","experience":"story"}"#
    #expect(await calls.ask(.post, "/v1/calls/\(id)/sessions", shared, by: "ada").status == 201)
    let bodies = try bodies()
    #expect(Set(bodies.keys).isSubset(of: CallOperation.all.map { "\($0.method.rawValue) \($0.path)" }))
    await calls.store.close()
    // The log's public key is read once, at the start.
    for operation in CallOperation.all where operation.path != "/v1/keys/log" {
      let name = "\(operation.method.rawValue) \(operation.path)"
      let path = operation.path.replacing("{call}", with: id).replacing("{session}", with: session)
        .replacing("{person}", with: "ada").replacing("{device}", with: "phone")
      let query = ["/v1/keys/consistency": "?from=0&to=1", "/v1/calls/events": "?after=0"][path] ?? ""
      let answer = await calls.ask(operation.method, path + query, bodies[name] ?? "", by: "ada")
      #expect(answer.status == 503 && answer.problem == "store-unavailable", "\(name): \(answer.text)")
      let seconds = Int(answer.headers["retry-after"] ?? "") ?? 0
      #expect(seconds > 0, "\(name)")
    }
  }
}
