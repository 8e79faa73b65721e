import Engine
import Foundation
import HTTPServer
import ICE
import Media
import Model
import Peer
import Rooms
import TestScripts
import Testing
import Transport

@testable import Gateway

/// What the reference parser makes of a text: Debian's python3-prometheus-client.
private struct Parsed: Decodable, Equatable {
  var family: String
  var kind: String
  var help: String
  var name: String
  var labels: [String: String]
  var value: Double

  static let script = """
    import json, sys
    from prometheus_client.parser import text_string_to_metric_families as parse
    print(json.dumps([dict(family=f.name, kind=f.type, help=f.documentation, name=s.name, labels=s.labels,
                           value=s.value)
                      for f in parse(sys.stdin.buffer.read().decode()) for s in f.samples]))
    """

  static func parse(_ text: String) throws -> [Parsed] {
    let (status, answer) = try Child.run(
      "/usr/bin/python3", ["-c", script], reading: Data(text.utf8), errors: .ofTheTest)
    try #require(status == 0, "python3-prometheus-client does not take it")
    return try JSONDecoder().decode([Parsed].self, from: answer)
  }
}

@Suite("Exposition", .timeLimit(.minutes(2)))
struct ExpositionTests {
  @Test(arguments: [
    "plain", "", #"quo"te"#, #"back\slash"#, "line\nbreak", #"\n"#, #"\""#, "a,b=\"c\"} 7", "ümläut ✓",
    "trailing\\",
  ])
  func `a label's value arrives as it was, whatever is in it`(value: String) throws {
    var exposition = Exposition()
    exposition.family(
      "roost_thing", .gauge, "A \\ help\nin two lines.", [.init(7, ("what", value), ("b", "c"))])
    exposition.family("roost_next_total", .counter, "Behind it.", [.init(UInt64.max)])
    let parsed = try Parsed.parse(exposition.text)
    #expect(
      parsed == [
        Parsed(
          family: "roost_thing", kind: "gauge", help: "A \\ help\nin two lines.", name: "roost_thing",
          labels: ["what": value, "b": "c"], value: 7),
        Parsed(
          family: "roost_next", kind: "counter", help: "Behind it.", name: "roost_next_total", labels: [:],
          value: Double(UInt64.max)),
      ])
  }

  @Test func `a histogram has its bounds in the unit of its name, a sum and a count`() throws {
    var times = Histogram.durations
    for span in [Duration.microseconds(40), .microseconds(150), .seconds(100)] { times.note(span) }
    var exposition = Exposition()
    exposition.histogram(
      "roost_thing_seconds", "Times.", unit: 1e9, ranges: 0..<4, [([("worker", "0")], times)])
    let parsed = try Parsed.parse(exposition.text)
    #expect(parsed.allSatisfy { $0.kind == "histogram" && $0.family == "roost_thing_seconds" })
    let buckets = parsed.filter { $0.name.hasSuffix("_bucket") }
    #expect(buckets.map { $0.labels["le"] } == ["5e-05", "0.0001", "0.0002", "0.0004", "+Inf"])
    #expect(buckets.map(\.value) == [1, 1, 2, 2, 3])
    #expect(parsed.first { $0.name.hasSuffix("_count") }?.value == 3)
    #expect(parsed.first { $0.name.hasSuffix("_sum") }.map { abs($0.value - 100.000_19) < 1e-6 } == true)
  }

  /// Something of everything that is counted.
  private func full() -> String {
    var exposition = Exposition()
    var report = WorkerReport()
    report.counters.transport.count(.srtpReplayed)
    report.iceDrops.count(.badIntegrity)
    report.iceDrops.count(.badIntegrity)
    report.routing.unknownPath = 3
    report.routing.count(.connectionLost)
    report.counters.transport.count(HandshakeFailure.wrongFingerprint)
    report.sending.droppedBufferFull = 4
    report.counters.transport.bytesSent = 5
    report.thread.niceness = -10
    WorkerMetrics.write([report, nil, report], to: &exposition)
    var http = HTTPReport()
    http.counters.answers = [200: 6, 404: 7]
    http.counters.refusedRequests = ["headTooLarge": 8]
    http.counters.webSocketsClosed = [1013: 9]
    HTTPMetrics.write(http, to: &exposition)
    var hook = Webhooks.Report()
    (hook.arrived, hook.waiting) = (13, 14)
    WebhookMetrics.write([hook, hook], held: (events: 15, bytes: 16), to: &exposition)
    var counts = RoomCounts()
    counts.sessionsEnded = [.removed: 10]
    (counts.keptMessageBytes, counts.messagesForgotten) = (13, 14)
    RoomMetrics.write(counts, kept: (rooms: 1, events: 11, bytes: 12), isDraining: true, to: &exposition)
    ProcessMetrics.write(ProcessUsage(), version: "1", started: 2.5, to: &exposition)
    return exposition.text
  }

  @Test func `names and units follow the field's customs`() throws {
    let parsed = try Parsed.parse(full())
    var kinds: [String: String] = [:]
    for sample in parsed {
      #expect(sample.name.hasPrefix("roost_") || sample.name.hasPrefix("process_"))
      #expect((sample.kind == "counter") == sample.name.hasSuffix("_total"), "\(sample.name)")
      #expect(["counter", "gauge", "histogram"].contains(sample.kind) && sample.help.hasSuffix("."))
      #expect(kinds.updateValue(sample.kind, forKey: sample.family) ?? sample.kind == sample.kind)
    }
    // No line twice.
    #expect(Set(parsed.map { "\($0.name) \($0.labels.sorted { $0.key < $1.key })" }).count == parsed.count)
  }

  @Test func `drops arrive under their reasons, and a worker that is silent shows as down`() throws {
    let parsed = try Parsed.parse(full())
    func value(_ name: String, _ labels: [String: String]) -> Double? {
      parsed.first { $0.name == name && $0.labels == labels }?.value
    }
    #expect(value("roost_dropped_packets_total", ["worker": "2", "reason": "srtpReplayed"]) == 1)
    #expect(value("roost_dropped_packets_total", ["worker": "2", "reason": "srtpTooOld"]) == 0)
    #expect(value("roost_dropped_stun_total", ["worker": "0", "reason": "badIntegrity"]) == 2)
    #expect(value("roost_dropped_datagrams_total", ["worker": "0", "reason": "unknownPath"]) == 3)
    #expect(value("roost_peers_ended_total", ["worker": "0", "reason": "connectionLost"]) == 1)
    #expect(value("roost_peers_ended_total", ["worker": "0", "reason": "requested"]) == 0)
    #expect(value("roost_failed_handshakes_total", ["worker": "2", "reason": "wrongFingerprint"]) == 1)
    #expect(value("roost_unsent_datagrams_total", ["worker": "0", "reason": "bufferFull"]) == 4)
    #expect(value("roost_sent_bytes_total", ["worker": "0"]) == 5)
    #expect(value("roost_http_responses_total", ["code": "404"]) == 7)
    #expect(value("roost_http_requests_refused_total", ["reason": "headTooLarge"]) == 8)
    #expect(value("roost_http_websockets_closed_total", ["code": "1013"]) == 9)
    #expect(value("roost_sessions_ended_total", ["reason": "removed"]) == 10)
    #expect(value("roost_draining", [:]) == 1)
    #expect(value("roost_kept_events", [:]) == 11 && value("roost_kept_event_bytes", [:]) == 12)
    #expect(value("roost_kept_message_bytes", [:]) == 13)
    #expect(value("roost_kept_messages_forgotten_total", [:]) == 14)
    #expect(value("roost_build_info", ["version": "1"]) == 1)
    #expect((0..<3).map { value("roost_worker_up", ["worker": "\($0)"]) } == [1, 0, 1])
    #expect(value("roost_sent_bytes_total", ["worker": "1"]) == nil)
    #expect(value("roost_worker_niceness", ["worker": "2"]) == -10)
    #expect((value("process_resident_memory_bytes", [:]) ?? 0) > 1_000_000)
    #expect((value("process_open_fds", [:]) ?? 0) > 2 && (value("process_cpu_seconds_total", [:]) ?? 0) > 0)
  }

  /// The plain numbers that a struct has as stored properties.
  private func numbers(_ counters: Any) -> Int {
    Mirror(reflecting: counters).children.count { $0.value is UInt64 || $0.value is Int }
  }

  @Test func `no counter is left out`() {
    #expect(WorkerMetrics.peer.count == numbers(TransportCounters()) + numbers(MediaCounters()))
    #expect(
      WorkerMetrics.routing.count + WorkerMetrics.relaying.count + WorkerMetrics.datagramDrops.count
        == numbers(RoutingCounters()) + numbers(TrackCounters()))
    #expect(WorkerMetrics.sending.count + WorkerMetrics.sendDrops.count == numbers(SendStatistics()))
    #expect(
      HTTPMetrics.counters.count + HTTPMetrics.refusals.count + HTTPMetrics.streamRefusals.count
        + HTTPMetrics.late.count == numbers(HTTPCounters()) + numbers(StreamCounters()))
    // Beside the sizes: the worker's number, and its tracks by kind.
    #expect(WorkerMetrics.sizes.count + 3 == numbers(WorkerReport()) + numbers(TransportSizes()))
    let names = WorkerMetrics.peer.map(\.name) + WorkerMetrics.routing.map(\.name)
    #expect(Set(names).count == names.count)
  }
}
