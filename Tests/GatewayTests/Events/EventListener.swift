import Foundation
import HTTPServer
import Model
import Synchronization
import Testing

@testable import Gateway

/// A reader of events as its client sees it, without sockets: what comes is asked for by the test, at times of its choice.
final class EventListener {
  /// As a browser's `EventSource` takes it apart (WHATWG HTML §9.2.6).
  struct Event: Equatable {
    var id: String?
    var type = "message"
    var data = ""
    var json: NSDictionary {
      (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? NSDictionary ?? [:]
    }
  }

  let source: any HTTPBodySource
  /// All that has come, as bytes.
  private(set) var text = ""
  private(set) var comments = 0
  private(set) var isOver = false
  private(set) var wakesAt = Instant.never
  /// The largest piece.
  private(set) var largest = 0
  private var now = Instant(nanoseconds: 77_000_000_000)
  /// How many figures there were when it last read.
  private var seen = 0

  init?(_ response: HTTPResponse) {
    guard response.status == 200, let source = response.stream else { return nil }
    self.source = source
  }

  func advance(by time: Duration) { now = now + time }

  /// The newest figures, once there are others than before.
  func figures() async throws -> NSDictionary {
    let reader = try #require(source as? FigureReader)
    while reader.newest.number <= seen, !reader.newest.isOver {
      try await Task.sleep(for: .milliseconds(2))
    }
    let found = events().last { ["server", "room"].contains($0.type) }
    seen = reader.newest.number
    return try #require(found).json
  }

  /// Waits until there are so many figures to be read.
  func waits(for number: Int) async throws {
    let reader = try #require(source as? FigureReader)
    while reader.newest.number < number, !reader.newest.isOver {
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// How long it is left alone from its last look on, if nothing happens.
  var untilWoken: Duration { wakesAt - now }

  /// What has come since the last time.
  func events(enough: Int = 16_384, ending: HTTPBodyEnding? = nil) -> [Event] {
    var bytes: [UInt8] = []
    // What happens shortly after the last look is left for a moment.
    now = now + EventStream.pause
    while !isOver {
      let before = bytes.count
      let step = source.produce(into: &bytes, enough: enough, now: now, ending: ending)
      largest = max(largest, bytes.count - before)
      if step == .end { isOver = true }
      if case .wait(let moment) = step {
        wakesAt = moment
        break
      }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    self.text += text
    return parse(text)
  }

  private func parse(_ text: String) -> [Event] {
    var events: [Event] = []
    for block in text.components(separatedBy: "\n\n") where !block.isEmpty {
      var event = Event()
      var isEvent = false
      for line in block.components(separatedBy: "\n") {
        if line.hasPrefix(":") {
          comments += 1
          continue
        }
        let parts = line.components(separatedBy: ": ")
        let value = parts.dropFirst().joined(separator: ": ")
        isEvent = true
        switch parts[0] {
        case "id": event.id = value
        case "event": event.type = value
        case "data": event.data = value
        default: Issue.record("\(line)")
        }
      }
      if isEvent { events.append(event) }
    }
    return events
  }
}

extension House {
  static let stream = ("accept", "text/event-stream")

  /// What the door says to one that would read events.
  /// - Parameter last: `Last-Event-ID`.
  func listen(
    _ path: String = "/v1/rooms/demo/events", last: String? = nil, token: String? = House.admin,
    method: HTTPMethod = .get
  ) async -> HTTPResponse {
    await respond(
      method, path, token: token,
      headers: [Self.stream, ("origin", "https://desk.example")]
        + (last.map { [("last-event-id", $0)] } ?? []))
  }

  /// One that reads.
  func listener(
    _ path: String = "/v1/rooms/demo/events", last: String? = nil, token: String? = House.admin
  ) async throws -> EventListener {
    try #require(EventListener(await listen(path, last: last, token: token)))
  }

  /// Makes a room and has something happen in it so often.
  /// - Returns: its id.
  @discardableResult
  func room(_ name: String = "demo", updates: Int = 0) async throws -> String {
    let made = await ask(.post, "/v1/rooms", #"{"name":"\#(name)"}"#)
    try await update(name, times: updates)
    return try #require(made["id"] as? String)
  }

  func update(_ name: String = "demo", times count: Int = 1, metadata: String = "m") async throws {
    for number in 0..<count {
      let answer = await ask(
        .patch, "/v1/rooms/\(name)", #"{"metadata":"\#(metadata)\#(number) \#(UUID())"}"#)
      try #require(answer.status == 200)
    }
  }
}

/// The clock of the wall, which stands until it is moved.
final class WallClock: Sendable {
  private let seconds: Mutex<Int>
  init(_ seconds: Int) { self.seconds = Mutex(seconds) }
  var now: Int { seconds.withLock { $0 } }
  func advance(by count: Int) { seconds.withLock { $0 += count } }
}
