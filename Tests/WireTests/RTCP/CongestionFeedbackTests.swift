import Testing
import Wire

@Suite("Congestion control feedback, RFC 8888", .timeLimit(.minutes(1)))
struct CongestionFeedbackTests {
  private typealias Report = CongestionFeedback.Report
  private typealias Streams = [(ssrc: UInt32, begin: UInt16, reports: [Report])]

  private func read(_ bytes: [UInt8]) throws -> (UInt32, UInt32, Int, Streams) {
    try bytes.withUnsafeBytes { compound in
      var reader = RTCPReader(compound)
      let packet = try reader.next()
      let feedback = try CongestionFeedback(try #require(packet))
      var walk = feedback.streams
      var found: Streams = []
      while let stream = walk.next() {
        #expect(stream[-1] == nil && stream[stream.count] == nil)
        found.append((stream.ssrc, stream.begin, (0..<stream.count).compactMap { stream[$0] }))
      }
      return (feedback.sender, feedback.timestamp, feedback.reportCount, found)
    }
  }

  private func write(_ streams: Streams, capacity: Int = 1_200) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0xEE, count: capacity)
    let size = buffer.withUnsafeMutableBytes { buffer -> Int? in
      guard var writer = CongestionFeedbackWriter(into: buffer, sender: 0x0102_0304) else { return nil }
      for stream in streams {
        guard writer.begin(ssrc: stream.ssrc, sequence: stream.begin) else { break }
        for report in stream.reports { guard writer.append(report) else { break } }
      }
      return writer.finish(timestamp: 0xAABB_CCDD)
    }
    return size.map { Array(buffer[..<$0]) }
  }

  private static let message: [UInt8] = [
    0x8B, 205, 0, 9, 1, 2, 3, 4,
    // Three packets of one stream from 65,535 on: 2 s ago; lost; marked, and 8 s ago or more.
    0, 0, 0, 7, 0xFF, 0xFF, 0, 3, 0x88, 0x00, 0x00, 0x00, 0xFF, 0xFE, 0, 0,
    // One packet of another, whose time isn't known.
    0, 0, 0, 8, 0, 5, 0, 1, 0xDF, 0xFF, 0, 0,
    0xAA, 0xBB, 0xCC, 0xDD,
  ]

  @Test func `what a message says of each packet`() throws {
    let (sender, timestamp, count, streams) = try read(Self.message)
    #expect(sender == 0x0102_0304 && timestamp == 0xAABB_CCDD && count == 4)
    #expect(streams.map(\.ssrc) == [7, 8] && streams.map(\.begin) == [65_535, 5])
    #expect(
      streams[0].reports == [
        Report(isReceived: true, offset: 2_048), Report(isReceived: false),
        Report(isReceived: true, ecn: .congested),
      ])
    #expect(streams[1].reports == [Report(isReceived: true, ecn: .capable0)])
  }

  @Test func `what is written is read as the same, and padded to words`() throws {
    for packets in [1, 2, 3, 4, 255] {
      let reports: [Report] = (0..<packets).map { index in
        index % 3 == 1 ? Report(isReceived: false) : Report(isReceived: true, offset: UInt16(index))
      }
      let bytes = try #require(write([(9, 65_500, reports), (10, 1, [Report(isReceived: true)])]))
      #expect(bytes.count % 4 == 0)
      let (sender, timestamp, count, streams) = try read(bytes)
      #expect(sender == 0x0102_0304 && timestamp == 0xAABB_CCDD && count == packets + 1)
      #expect(streams[0].reports == reports && streams[1].reports == [Report(isReceived: true)])
    }
  }

  @Test func `a full message takes no more, and one about nothing isn't written`() throws {
    let many = Array(repeating: Report(isReceived: true, offset: 3), count: 2_000)
    for capacity in 24..<80 {
      let bytes = try #require(write([(9, 1, many), (10, 1, many)], capacity: capacity))
      #expect(bytes.count <= capacity)
      let (_, _, count, _) = try read(bytes)
      #expect(count > 0)
    }
    #expect(write([(9, 1, [])]) == nil)
    #expect(write([]) == nil)
    #expect(write([(9, 1, many)], capacity: 23) == nil)
  }

  @Test func `a stream without packets is passed over`() throws {
    let bytes = try #require(write([(9, 1, []), (10, 1, [Report(isReceived: true)])]))
    let streams = try read(bytes).3
    #expect(streams.map(\.ssrc) == [10])
  }

  @Test func `a message cut anywhere, or that counts more packets than it has, is refused`() throws {
    for words in 1..<Self.message.count / 4 {
      var bytes = Array(Self.message[..<(4 * words)])
      bytes[3] = UInt8(words - 1)
      // Where it is cut between streams what is left may be whole.
      guard let found = try? read(bytes) else { continue }
      #expect(2 * found.2 <= bytes.count - 12)
    }
    for count in [2, 4, 5, 255] as [UInt8] {
      var bytes = Self.message
      bytes[31] = count
      if count > 2 { #expect(throws: RTCPError.self) { try read(bytes) } }
      bytes[15] = count
      bytes[14] = count
      #expect(throws: RTCPError.self) { try read(bytes) }
    }
  }
}
