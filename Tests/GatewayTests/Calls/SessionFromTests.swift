import CallDesk
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("REST: sessions that begin with an earlier one", .timeLimit(.minutes(2)))
struct SessionFromTests {
  @Test(arguments: StoreKind.allCases)
  func `who begins with a snapshot pays for its bytes, however small the request`(kind: StoreKind)
    async throws
  {
    let scene = try await SessionScene(kind, active: ["ada", "bob"])
    let id = try await scene.session("ada", "bob")
    let state = String(repeating: "y", count: 1_000_000)
    #expect(
      await scene.ask(.put, "\(id)/snapshot", #"{"seq":0,"state":"\#(state)"}"#, by: "ada").status == 204)
    #expect(await scene.ask(.delete, id, by: "ada").status == 200)
    var answers: [Int] = []
    for number in 0..<8 {
      let body = #"{"id":"\#(SessionScene.uuid())","experience":"e\#(number)","from":"\#(id)"}"#
      answers.append(await scene.ask(.post, "", body, by: "bob").status)
    }
    #expect(answers.first == 201 && answers.contains(429), "\(answers)")
    // One that may not begin with it pays nothing for it, and has nothing of it.
    let eve = try await SessionScene(kind, active: ["eve", "kim"])
    let refused = await eve.ask(
      .post, "", #"{"id":"\#(SessionScene.uuid())","experience":"e","from":"\#(id)"}"#, by: "eve")
    #expect(refused.status == 404 && refused.problem == "not-found")
  }

  @Test(arguments: StoreKind.allCases)
  func `events that are nowhere any more are said to be so, and nothing leads to a snapshot that isn't there`(
    kind: StoreKind
  ) async throws {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada", "bob")
    _ = await scene.append("1", to: id, by: "ada")
    #expect(await scene.ask(.delete, id, by: "ada").status == 200)
    scene.calls.clock.move(60_001)
    await scene.calls.desk.tidy()
    let gone = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=0", by: "bob")
    #expect(gone.status == 410 && gone.problem == "session-ended" && gone["snapshotSeq"] == nil)
    #expect(await scene.ask(.get, "\(id)/snapshot", by: "bob").problem == "not-found")
    let end = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=3", by: "bob")
    #expect(end.status == 200 && end.items.isEmpty)
  }
}
