import Congestion
import Model
import Wire

/// Arrivals as the bytes tell: three bytes each, a step in the sequence and one in time. Whatever the order, each
/// is reported exactly once.
@Sendable public func fuzzArrivalFeedback(_ bytes: UnsafeRawBufferPointer) {
  var feedback = ArrivalFeedback()
  var now = Instant(nanoseconds: 0)
  var sequence: UInt16 = 65_000
  var given: Set<UInt16> = []
  var received: UInt64 = 0
  var reported: UInt64 = 0
  for index in stride(from: 0, to: bytes.count - 2, by: 3) {
    sequence &+= UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    now = now.advanced(byNanoseconds: Int64(Int8(bitPattern: bytes[index + 2])) * 500_000)
    feedback.received(sequence: sequence, at: now)
    given.insert(sequence)
    received += 1
    // Some owners are late: what isn't asked for waits.
    if bytes[index + 2] & 7 == 0 { reported += drain(&feedback, now, given) }
  }
  now = now + .seconds(3_600)
  reported += drain(&feedback, now, given)
  check(feedback.pendingCount == 0 && feedback.deadline == .never, "nothing waits in the end")
  check(reported + feedback.duplicates + feedback.overflows == received, "every arrival is reported once")
}

private func drain(_ feedback: inout ArrivalFeedback, _ now: Instant, _ given: Set<UInt16>) -> UInt64 {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ArrivalFeedback.maximumSize, alignment: 1)
  defer { buffer.deallocate() }
  var reported: UInt64 = 0
  while let size = feedback.write(into: buffer, senderSSRC: 1, mediaSSRC: 2, now: now) {
    var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
    guard let packet = try? reader.next(), let message = try? TransportFeedback(packet) else {
      check(false, "feedback is read")
      return 0
    }
    var entries = message.entries
    var inMessage: UInt64 = 0
    while let entry = entries.next() {
      guard entry.received else { continue }
      check(given.contains(entry.sequence), "only what arrived is reported")
      inMessage += 1
    }
    check(inMessage > 0, "every message makes progress")
    reported += inMessage
  }
  return reported
}

/// State from elsewhere: refused, or good to go on with.
@Sendable public func fuzzArrivalFeedbackState(_ bytes: UnsafeRawBufferPointer) {
  var reader = StateReader(Array(bytes))
  guard var feedback = try? ArrivalFeedback(from: &reader) else { return }
  var writer = StateWriter()
  feedback.encode(into: &writer)
  var copyReader = StateReader(writer.bytes)
  check((try? ArrivalFeedback(from: &copyReader).pendingCount) == feedback.pendingCount, "state survives")

  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ArrivalFeedback.maximumSize, alignment: 1)
  defer { buffer.deallocate() }
  for sequence in [0, 1, 40_000] as [UInt16] {
    feedback.received(sequence: sequence, at: Instant(nanoseconds: 5))
  }
  var messages = 0
  while feedback.write(into: buffer, senderSSRC: 1, mediaSSRC: 2, now: .never) != nil {
    messages += 1
    check(messages <= ArrivalFeedback.capacity, "messages come to an end")
  }
}

/// Arrivals of four streams as the bytes tell: three bytes each, a stream with a step in time, and a step in the sequence. Each is
/// reported once, also by a value that was read from the state of another.
@Sendable public func fuzzStreamFeedback(_ bytes: UnsafeRawBufferPointer) {
  var feedback = StreamFeedback()
  var now = Instant(nanoseconds: 0)
  var sequences: [UInt16] = [0, 65_000, 7, 30_000]
  var received: UInt64 = 0
  var reported: UInt64 = 0
  for index in stride(from: 0, to: bytes.count - 2, by: 3) {
    let stream = Int(bytes[index] & 3)
    sequences[stream] &+= UInt16(bytes[index + 1]) << 8 | UInt16(bytes[index + 2])
    now = now.advanced(byNanoseconds: Int64(bytes[index] >> 2) * 500_000)
    feedback.received(ssrc: UInt32(stream), sequence: sequences[stream], at: now)
    received += 1
    if bytes[index] & 0x30 == 0x30 { reported += drain(&feedback, now) }
    guard bytes[index] == 0x44 else { continue }
    var writer = StateWriter()
    feedback.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    guard let copy = try? StreamFeedback(from: &reader) else { return check(false, "state survives") }
    feedback = copy
  }
  reported += drain(&feedback, now + .seconds(3_600))
  check(feedback.pendingCount == 0 && feedback.deadline == .never, "nothing waits in the end")
  check(reported + feedback.duplicates + feedback.overflows == received, "every arrival is reported once")
}

private func drain(_ feedback: inout StreamFeedback, _ now: Instant) -> UInt64 {
  let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: StreamFeedback.maximumSize, alignment: 1)
  defer { buffer.deallocate() }
  var reported: UInt64 = 0
  while let size = feedback.write(into: buffer, senderSSRC: 1, timestamp: 0, now: now) {
    var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
    guard let packet = try? reader.next(), let message = try? CongestionFeedback(packet) else {
      check(false, "feedback is read")
      return 0
    }
    var streams = message.streams
    while let stream = streams.next() {
      for index in 0..<stream.count where stream[index]?.isReceived == true { reported += 1 }
    }
  }
  return reported
}
