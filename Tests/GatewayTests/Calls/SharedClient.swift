import Calls
import Foundation
import HTTPServer
import Testing

@testable import Gateway

/// A client of a shared session that does what docs/sessions.md says, and nothing more: join, snapshot, events after it, live.
final class SharedClient {
  let person: String
  let session: String
  /// The snapshot with which it began.
  private(set) var base: Int64?
  private(set) var seen: [SeenEvent] = []
  /// What came live and waits for what is before it.
  private var early: [Int64: SeenEvent] = [:]
  private var ear: SessionEar?
  private var heard = 0
  /// Of each socket so far, what came on it.
  private(set) var sockets: [[SeenEvent]] = []

  init(_ person: String, _ session: String) { (self.person, self.session) = (person, session) }

  var next: Int64 { (seen.last?.seq ?? base ?? 0) + 1 }

  /// On a new socket it begins where it is; what comes meanwhile waits.
  func connect(_ scene: SessionScene, _ house: House) async throws {
    hangUp()
    let ear = SessionEar(house, room: scene.room, token: try #require(scene.tokens[person]))
    _ = try await ear.first { $0["type"] as? String == "joined" }
    (self.ear, heard) = (ear, 0)
  }

  func hangUp() {
    guard let ear else { return }
    sockets.append(ear.events(of: session))
    ear.hangUp()
    self.ear = nil
  }

  func say(_ data: String, id: String) {
    let event = #"{"id":"\#(id)","type":"stroke","data":\#(data)}"#
    ear?.socket.say(#"{"type":"session.event","sid":"\#(session)","event":\#(event)}"#)
  }

  /// Takes what has come live by now.
  /// - Returns: whether something is missing before it.
  func listen() -> Bool {
    guard let ear else { return false }
    let events = ear.events(of: session)
    for event in events.dropFirst(heard) { take(event) }
    heard = events.count
    return !early.isEmpty
  }

  private func take(_ event: SeenEvent) {
    guard event.seq >= next else { return }
    early[event.seq] = event
    guard base != nil else { return }
    while let following = early.removeValue(forKey: next) { seen.append(following) }
  }

  /// Reads what is missing.
  func catchUp(_ scene: SessionScene, _ calls: CallHouse) async throws {
    if base == nil { guard try await begin(scene, calls) else { return } }
    while true {
      let answer = await calls.ask(
        .get, "\(scene.path("\(session)/events"))?after=\(next - 1)&limit=200", by: person)
      switch answer.problem {
      case nil:
        for event in answer.items.compactMap({ SeenEvent($0) }) { take(event) }
        if answer["next"] == nil { return }
      case "compacted":
        // It was away for too long, and begins again.
        (base, seen, early) = (nil, [], [:])
        guard try await begin(scene, calls) else { return }
      // Who isn't in the call, or has asked too much, tries later.
      case "not-allowed", "too-many": return
      default:
        Issue.record("\(person): \(answer.text)")
        return
      }
    }
  }

  private func begin(_ scene: SessionScene, _ calls: CallHouse) async throws -> Bool {
    let answer = await calls.ask(.get, scene.path("\(session)/snapshot"), by: person)
    switch answer.problem {
    case nil: base = Int64(answer["seq"] as? Int ?? -1)
    case "not-found": base = 0
    default: return false
    }
    for event in early.values.sorted(by: { $0.seq < $1.seq }) { take(event) }
    return true
  }
}
