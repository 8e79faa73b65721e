import CallDesk
import Calls
import Foundation
import HTTPServer
import Synchronization
import Testing

@testable import Gateway

/// Figures of calls, printed; at full size in `make accept`, which holds them to their bounds.
@Suite("How fast calls are", .serialized, .timeLimit(.minutes(4)))
struct CallFigureTests {
  private static let isFull = ProcessInfo.processInfo.environment["ROOST_CALL_FIGURES"] == "1"

  /// - Returns: what a share of the spans takes at most, in milliseconds.
  private func percentile(_ spans: [Duration], _ share: Double) -> Double {
    let sorted = spans.sorted()
    guard !sorted.isEmpty else { return .infinity }
    let span = sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)].components
    return Double(span.seconds) * 1_000 + Double(span.attoseconds) / 1e15
  }

  @Test func `from the start of a call to its push, with a thousand devices and fifty rings a second`()
    async throws
  {
    let rings = Self.isFull ? 1_000 : 100
    try await PushReceiver.with { receiver, services in
      var terms = CallDeskTerms()
      (terms.rates.starts, terms.rates.rings) = (10_000, 10_000)
      let calls = try await CallHouse(terms, services: services)
      let people = 250
      for person in 0..<people {
        for device in 0..<4 {
          let name = "p\(person)-\(device)"
          let answer = await calls.ask(
            .put, "/v1/devices/\(name)", #"{"platform":"webhook","token":"\#(name)"}"#, by: "p\(person)")
          try #require(answer.status == 200)
        }
      }
      let started = Started()
      let first = ContinuousClock.now
      await withTaskGroup(of: Void.self) { group in
        for ring in 0..<rings {
          group.addTask {
            try? await Task.sleep(until: first + .milliseconds(20 * ring), clock: .continuous)
            let id = UUID().uuidString.lowercased()
            started.at.withLock { $0[id] = .now }
            let answer = await calls.start("caller\(ring)", "p\(ring % people)", id: id).answer
            if answer.status != 201 { Issue.record("\(answer.status) \(answer.text)") }
          }
        }
      }
      _ = try await receiver.wait(rings * 4)
      let begun = started.at.withLock { $0 }
      // The first of a call's four.
      var arrived: [String: ContinuousClock.Instant] = [:]
      for push in receiver.all {
        guard let call = push["callId"] else { continue }
        arrived[call] = min(arrived[call] ?? push.at, push.at)
      }
      let spans = begun.compactMap { id, at in arrived[id].map { $0 - at } }
      let (half, most) = (percentile(spans, 0.5), percentile(spans, 0.99))
      print(
        "figure: calls, start to push: \(spans.count) of \(rings) rings, p50 \(half.rounded()) ms, p99 \(most.rounded()) ms"
      )
      #expect(spans.count == rings)
      #expect(most < (Self.isFull ? 100 : 2_000))
    }
  }

  @Test func `a stranger learns nothing of a call by how long the answer takes`() async throws {
    let count = Self.isFull ? 10_000 : 400
    let calls = try await CallHouse()
    let (id, _) = await calls.start("ada", "bob")
    let never = UUID().uuidString.lowercased()
    var spans: (known: [Duration], unknown: [Duration]) = ([], [])
    for turn in 0..<count {
      for path in turn.isMultiple(of: 2) ? [id, never] : [never, id] {
        let began = ContinuousClock.now
        let answer = await calls.ask(.get, "/v1/calls/\(path)", by: "mallory\(turn)")
        let span = ContinuousClock.now - began
        guard answer.status == 404 else { continue }
        if path == id { spans.known.append(span) } else { spans.unknown.append(span) }
      }
    }
    let (known, unknown) = (percentile(spans.known, 0.5), percentile(spans.unknown, 0.5))
    let apart = abs(known - unknown) / max(known, unknown)
    let words = [known, unknown, apart * 100].map { String(format: "%.3f", $0) }
    print(
      "figure: calls, a stranger: \(words[0]) ms of one that is, \(words[1]) ms of one that never was, \(words[2]) % apart, of \(spans.known.count) each"
    )
    try #require(spans.known.count > count / 4 && spans.unknown.count > count / 4)
    #expect(apart < (Self.isFull ? 0.05 : 0.5))
  }

  /// When each call was started, by its id.
  private final class Started: Sendable {
    let at = Mutex<[String: ContinuousClock.Instant]>([:])
  }
}
