import Foundation
import Model
import Peer
import Simulation
import TestScripts
import Testing

@testable import Engine

/// Wireshark's own programs read what is recorded of a simulated call.
@Suite("Captures, as Wireshark reads them", .timeLimit(.minutes(3)))
struct CaptureToolTests {
  private struct Finding {
    var status: Int32
    var text: String
    var lines: [Substring] { text.split(separator: "\n") }
  }

  private func run(_ tool: String, _ arguments: [String]) throws -> Finding {
    let (status, answer) = try Child.run("/usr/bin/\(tool)", arguments, errors: .discarded)
    return Finding(status: status, text: String(decoding: answer, as: UTF8.self))
  }

  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tshark"),
      "scripts/install test brings tshark"))
  func `tshark and capinfos find RTP, feedback, checks, the handshake and decisions in a call's capture`()
    throws
  {
    let room = try SimulationRoom()
    try room.join(at: room.address(onWorker: 0, host: 1), publishes: true)
    try room.join(at: room.address(onWorker: 0, host: 2), publishes: false)
    room.run(for: .seconds(5))
    var recordings: [FlightRecording] = []
    for key in room.keys {
      let answer = Answer()
      _ = room.server.bridge.recording(of: key, home: 0) { answer.set($0) }
      room.run(for: .milliseconds(1))
      recordings.append(try #require(answer.value))
    }
    let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_700_000_000_000_000_000))
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pcapng")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(recordings.flatMap { $0.capture(title: "a test", epoch: epoch) }).write(to: file)

    let facts = try run("capinfos", ["-M", file.path])
    #expect(facts.status == 0 && facts.text.contains("pcapng"))
    let table = ["-r", file.path, "-n", "-d", "udp.port==7882,rtp"]
    let all = try run("tshark", table + ["-T", "fields", "-e", "_ws.col.Protocol", "-e", "frame.comment"])
    #expect(all.status == 0, "no block is out of its place")
    let count = recordings.reduce(0) {
      $0 + (CapturedPackets($1.capture(title: "-", epoch: epoch))?.packets.count ?? 0)
    }
    #expect(all.lines.count == count && count > 500)
    let kinds = Dictionary(grouping: all.lines) { $0.split(separator: "\t").first.map(String.init) ?? "" }
    for kind in ["RTP", "RTCP", "STUN"] { #expect((kinds[kind]?.count ?? 0) > 0, "\(kind) of \(kinds.keys)") }
    #expect(kinds.keys.contains { $0.hasPrefix("DTLS") }, "\(kinds.keys)")
    #expect(all.text.contains("the handshake is done"))
    // Transport-wide feedback, with what it is about (RTCP 205, format 15).
    let feedback = try run("tshark", table + ["-Y", "rtcp.pt == 205 && rtcp.rtpfb.fmt == 15"])
    #expect(feedback.lines.count > 10)
    // Truncated packets are so marked by their sizes; what is malformed is not.
    let malformed = try run("tshark", table + ["-Y", "_ws.malformed"])
    #expect(malformed.lines.isEmpty, "\(malformed.text.prefix(400))")
    let inbound = try run(
      "tshark", table + ["-Y", "frame.packet_flags_direction == 1 && udp.dstport != 7882"])
    #expect(inbound.lines.isEmpty)
  }
}
