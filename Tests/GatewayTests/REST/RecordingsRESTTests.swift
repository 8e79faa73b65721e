import AccessTokens
import Foundation
import HTTPServer
import Model
import Recording
import Rooms
import Testing

@testable import Gateway

@Suite("Recordings over REST", .timeLimit(.minutes(1)))
struct RecordingsRESTTests {
  private func start(_ house: House, _ body: String = "{}", room: String = "demo") async throws -> String {
    let answer = await house.ask(.post, "/v1/rooms/\(room)/recordings", body)
    #expect(answer.status == 201, "\(answer.text)")
    let id = try #require(answer["id"] as? String)
    #expect(answer.headers["location"] == "/v1/rooms/\(room)/recordings/\(id)")
    return id
  }

  private func state(_ house: House, _ id: String) async -> String? {
    await house.ask(.get, "/v1/rooms/demo/recordings/\(id)")["state"] as? String
  }

  private func ends(_ house: House, _ id: String) async throws -> Bool {
    for _ in 0..<250 {
      if await state(house, id) == "ended" { return true }
      try await Task.sleep(for: .milliseconds(20))
    }
    return false
  }

  @Test func `a recording is there at once, is listed, ends, and stays until it is erased`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let track = try await ada.publish(.audio, as: "microphone")
    let id = try await start(house, #"{"sources":["microphone"],"maxBytes":5000000}"#)
    #expect(try await ada.event("room.recording")["recording"] != nil)
    #expect(await house.ask(.get, "/v1/rooms/demo")["recorded"] as? Bool == true)
    let list = await house.ask(.get, "/v1/rooms/demo/recordings")
    #expect(list.items.map { $0["id"] as? String } == [id])
    #expect(await house.ask(.delete, "/v1/rooms/demo/recordings/\(id)").status == 204)
    #expect(try await ends(house, id))
    let shown = await house.ask(.get, "/v1/rooms/demo/recordings/\(id)")
    #expect(shown["reason"] as? String == "stopped")
    let tracks = try #require(shown["tracks"] as? [[String: Any]])
    #expect(tracks.map { $0["track"] as? String } == [track])
    // Again: it has ended, and that is so.
    #expect(await house.ask(.delete, "/v1/rooms/demo/recordings/\(id)").status == 204)
    #expect(await house.ask(.delete, "/v1/rooms/demo/recordings/\(id)?purge").status == 204)
    #expect(await house.ask(.get, "/v1/rooms/demo/recordings/\(id)").problem == "recording-not-found")
    #expect(await house.ask(.delete, "/v1/rooms/demo/recordings/\(id)").status == 404)
  }

  @Test func `those of another room can't be seen or ended by way of this one`() async throws {
    let house = try House()
    _ = try await house.enter("ada")
    #expect(await house.ask(.post, "/v1/rooms", #"{"name":"other"}"#).status == 201)
    let id = try await start(house)
    for method in [HTTPMethod.get, .delete] {
      let answer = await house.ask(method, "/v1/rooms/other/recordings/\(id)")
      #expect(answer.status == 404 && answer.problem == "recording-not-found")
    }
    #expect(await house.ask(.delete, "/v1/rooms/other/recordings/\(id)?purge").status == 404)
    #expect(await house.ask(.get, "/v1/rooms/other/recordings").items.isEmpty)
    #expect(await state(house, id) == "active")
  }

  @Test func `a recording outlives its room, and can be erased then`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let id = try await start(house)
    ada.socket.say(#"{"type":"leave"}"#)
    #expect(try await ends(house, id))
    let shown = await house.ask(.get, "/v1/rooms/demo/recordings/\(id)")
    #expect(shown["reason"] as? String == "roomFinished")
    #expect(await house.ask(.post, "/v1/rooms/demo/recordings", "{}").problem == "room-not-found")
    #expect(await house.ask(.delete, "/v1/rooms/demo/recordings/\(id)?purge=true").status == 204)
  }

  @Test func `pages go on behind the last that was shown`() async throws {
    let house = try House()
    _ = try await house.enter("ada")
    var ids: [String] = []
    for _ in 0..<3 {
      ids.append(try await start(house))
      try await Task.sleep(for: .milliseconds(5))
    }
    let first = await house.ask(.get, "/v1/rooms/demo/recordings?limit=2")
    #expect(first.items.map { $0["id"] as? String } == Array(ids.prefix(2)))
    let next = try #require(first["next"] as? String)
    let second = await house.ask(.get, "/v1/rooms/demo/recordings?limit=2&after=\(next)")
    #expect(second.items.map { $0["id"] as? String } == [ids[2]] && second["next"] == nil)
    #expect(await house.ask(.get, "/v1/rooms/demo/recordings?after=UkNfbm9uZQ").items.isEmpty)
  }

  @Test(arguments: [
    (#"{"tracks":"all"}"#, "tracks must be a list"), (#"{"maxBytes":5}"#, "maxBytes must be"),
    (#"{"sources":["roof"]}"#, "sources must be"), (#"{"format":"mp4"}"#, "format is not a known member"),
    ("[]", "expected a JSON object"),
  ])
  func `a body that means nothing is refused by the name of what is wrong`(body: String, detail: String)
    async throws
  {
    let house = try House()
    _ = try await house.enter("ada")
    let answer = await house.ask(.post, "/v1/rooms/demo/recordings", body)
    #expect(answer.status == 400 && answer.problem == "body")
    #expect(answer.detail?.contains(detail) == true, "\(answer.detail ?? "")")
  }

  @Test func `what is not there, and more than there may be, is said`() async throws {
    let house = try House()
    _ = try await house.enter("ada")
    let unknown = await house.ask(.post, "/v1/rooms/demo/recordings", #"{"tracks":["TR_none"]}"#)
    #expect(unknown.status == 404 && unknown.problem == "track-not-found")
    for _ in 0..<4 { _ = try await start(house) }
    let full = await house.ask(.post, "/v1/rooms/demo/recordings", "{}")
    #expect(full.status == 503 && full.problem == "full" && full.headers["retry-after"] != nil)
    // What was refused keeps no place: another room has the twelve that are left.
    #expect(await house.ask(.post, "/v1/rooms", #"{"name":"other"}"#).status == 201)
    for room in ["b", "c", "d"] {
      #expect(await house.ask(.post, "/v1/rooms", #"{"name":"\#(room)"}"#).status == 201)
      for _ in 0..<4 { _ = try await start(house, room: room) }
    }
    #expect(await house.ask(.post, "/v1/rooms/other/recordings", "{}").problem == "full")
  }

  @Test func `a server without a directory says what it lacks`() async throws {
    let house = try House(records: false)
    _ = try await house.enter("ada")
    for (method, path, body) in [
      (HTTPMethod.post, "recordings", "{}"), (.get, "recordings", ""), (.get, "recordings/RC_1", ""),
      (.delete, "recordings/RC_1", ""),
    ] {
      let answer = await house.ask(method, "/v1/rooms/demo/\(path)", body)
      #expect(answer.status == 409 && answer.problem == "recording-off")
      #expect(answer.detail?.contains("storage.directory") == true)
    }
  }

  @Test func `each refusal is a problem of its own`() {
    let problems: [(AdministrationError, Int, String)] = [
      (.recordingActive, 409, "recording-active"), (.noSpace, 507, "no-space"),
      (.notErased("Is a directory"), 500, "not-erased"),
    ]
    for (error, status, code) in problems {
      let problem = RESTProblem(error)
      #expect(problem.status == status && problem.code == code)
    }
  }
}
