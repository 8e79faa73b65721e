import Glibc
import Model
import Testing

@testable import Crypto

@Suite("Memory of handshakes", .serialized, .timeLimit(.minutes(5)))
struct DTLSMemoryTests {
  /// Bytes resident.
  private static func resident() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
  }

  /// A handshake that is dropped after `steps` exchanges; nine finish it.
  private static func handshake(_ ours: DTLSContext, _ theirs: DTLSContext, steps: Int, wrong: Bool) {
    let expected = wrong ? theirs.certificate : ours.certificate
    let server = Endpoint(.server, ours, expecting: [theirs.certificate.fingerprint(.sha256)])
    let client = Endpoint(.client, theirs, expecting: [expected.fingerprint(.sha256)])
    if steps > 0 { client.start() }
    for step in 1..<max(steps, 1) {
      let (from, to) = step % 2 == 1 ? (client, server) : (server, client)
      for datagram in from.take() { to.receive(datagram) }
    }
  }

  @Test func `a thousand handshakes, finished, aborted and refused, leave nothing behind`() throws {
    let ours = try DTLSContext(certificate: TestCertificates.ours)
    let theirs = try DTLSContext(certificate: TestCertificates.theirs)
    // One SSL object takes more than 10 kB, so that a leak in one of eight cases would show as 1.2 MB a round.
    // Memory is the whole process's, so that it runs apart; what grows in every one of several rounds is a leak.
    var growth: [Int] = []
    for round in 0..<8 {
      let before = Self.resident()
      for number in 0..<1_000 {
        Self.handshake(ours, theirs, steps: [9, 9, 0, 1, 2, 3, 4, 9][number % 8], wrong: number % 8 == 7)
      }
      // The first round warms the allocator up.
      if round > 0 { growth.append(Self.resident() - before) }
      if let least = growth.min(), least < 500_000 { break }
    }
    #expect(try #require(growth.min()) < 500_000)
  }
}
