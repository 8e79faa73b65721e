import Foundation
import FuzzTargets
import HTTPServer
import Signalling
import Testing
import Wire

@testable import Gateway

/// The dearest messages, requests, reports and packets that were found, each with what it makes the server say. Their
/// instructions are counted by `scripts/costs check`.
@Suite("Costs", .timeLimit(.minutes(5)))
struct CostTests {
  static let folder = FuzzTests.corpus.deletingLastPathComponent().appending(path: "Costs")

  /// As `scripts/costs` names it.
  static func slug(_ kind: String) -> String {
    kind.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }.joined(separator: "-")
  }

  static func inputs(_ group: CostGroup, _ kind: String) throws -> [[UInt8]] {
    let folder = folder.appending(path: "\(group.rawValue)/\(slug(kind))")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      Array(try Data(contentsOf: folder.appending(path: $0)))
    }
  }

  @Test func `every kind has its dearest inputs and every input a kind`() throws {
    for group in CostGroup.allCases {
      let folders = try FileManager.default.contentsOfDirectory(
        atPath: Self.folder.appending(path: group.rawValue).path)
      #expect(Set(folders) == Set(group.kinds.map(Self.slug)))
    }
  }

  @Test func `every request of REST and every message of a client is a kind of its own`() throws {
    let requests = Set(RESTOperation.all.map { "\($0.method.rawValue) \($0.path)" })
    let others: Set = ["GET /v1/rooms/{room}/connect", "POST /dev/token", "GET /", "another"]
    #expect(Set(CostGroup.request.kinds) == requests.union(others))
    let calls = Set(CallOperation.all.map { "\($0.method.rawValue) \($0.path)" })
    #expect(Set(CostGroup.call.kinds) == calls)
    let messages = Set(ClientMessage.kinds.map { $0.type })
    #expect(Set(CostGroup.message.kinds) == messages.union(["offer again", "unknown", "malformed"]))
  }

  @Test func `every kind of RTCP that the reader knows is a kind of its own`() {
    let known = (0...UInt8.max).compactMap { RTCPKind(rawValue: $0) }
    #expect(known.contains(.extendedReport) && known.last == .other)
    let names = CostGroup.report.kinds
    #expect(Set(names).count == names.count && names.count == known.count + 1 && names.last == "compound")
  }

  @Test(arguments: CostGroup.allCases)
  func `the dearest inputs are of their kind, and answered within their bound`(group: CostGroup) throws {
    let bench = CostBench()
    for kind in group.kinds {
      let inputs = try Self.inputs(group, kind)
      #expect((1...3).contains(inputs.count), "\(kind)")
      for input in inputs {
        let reading = try #require(
          bench.run(group, kind: kind, others: 60, input, CostMeter()), "\(kind)")
        #expect(reading.charged >= ([.report, .packet].contains(group) ? 36 : 512), "\(kind)")
        #expect(reading.answered <= Self.answers(group) * reading.charged, "\(kind)")
        #expect(reading.spread <= 60 * Self.spread(kind) * reading.charged, "\(kind)")
      }
    }
  }

  /// Bytes that an input's sender gets for each that it is charged, at most: what was missed on resuming, lists of REST,
  /// and retransmissions. A packet is answered with the next feedback.
  static func answers(_ group: CostGroup) -> Int {
    switch group {
    case .message: 100
    case .request: 1_100
    case .call: 20
    case .report: 700
    case .packet: 0
    }
  }

  /// Bytes that each of the others gets: where a room closes, the events of all who go before it.
  static func spread(_ kind: String) -> Int { kind == "DELETE /v1/rooms/{room}" ? 90 : 6 }
}
