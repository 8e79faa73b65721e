import Media
import Model
import Wire

/// Packets in any order to one encoding: each is a byte of marks, a byte of size, and the payload.
///
/// The first byte chooses the codec. Frames are in the form that files have, and those that can't be decoded stay out.
@Sendable func fuzzFrames(_ bytes: UnsafeRawBufferPointer) {
  guard let first = bytes.first else { return }
  let formats = [
    .vp8, CodecFormat(.vp9), CodecFormat(.av1), CodecFormat(.h264), CodecFormat(.h265), .opus, .red,
  ]
  let format = formats[Int(first) % formats.count]
  var order = PacketOrder(patience: .milliseconds(100))
  var pictures = FrameAssembler()
  var sound = SoundAssembler()
  var continuity = FrameContinuity()
  var frames: [EncodedFrame] = []
  var rest = bytes.dropFirst()
  var (sequence, timestamp, now): (Int64, UInt32, Int64) = (0, 0, 0)
  while rest.count >= 2 {
    let (marks, size) = (rest.removeFirst(), Int(rest.removeFirst()))
    let payload = Array(rest.prefix(size))
    rest = rest.dropFirst(size)
    // Numbers go on, skip one, go back; time passes.
    sequence += [1, 1, 2, -1][Int(marks & 3)]
    if marks & 4 != 0 { timestamp &+= 3_000 }
    now += Int64(marks >> 4) * 20_000_000
    order.add(
      FramePacket(
        sequence: sequence, timestamp: timestamp, marker: marks & 8 != 0, format: format,
        primaryFormat: format == .red ? .opus : format, arrival: Instant(nanoseconds: now), payload: payload))
    drain(&order, now: Instant(nanoseconds: now), &pictures, &sound, &frames)
  }
  drain(&order, now: .never, &pictures, &sound, &frames)
  check(order.isEmpty, "nothing waits for ever")
  for frame in frames {
    check(!frame.bytes.isEmpty && frame.bytes.count <= bytes.count * 8, "a frame is made of what came")
    if format.codec.kind == .audio { check((1...5_760).contains(frame.samples), "sound has a length") }
    if [.h264, .h265].contains(format.codec) {
      check(NALUnits.behindSizes(frame.bytes, width: 4) != nil, "units lie behind their sizes")
    }
    let isAdmitted = continuity.admit(frame)
    check(!frame.isKeyFrame || isAdmitted, "one can begin with a key frame")
  }
}

private func drain(
  _ order: inout PacketOrder, now: Instant, _ pictures: inout FrameAssembler, _ sound: inout SoundAssembler,
  _ frames: inout [EncodedFrame]
) {
  var last: Int64 = .min
  while let step = order.next(now: now) {
    switch step {
    case .lost(let count):
      check(count > 0, "what is lost is something")
      pictures.lose()
      sound.lose()
    case .packet(let packet):
      check(packet.sequence > last, "packets come in order")
      last = packet.sequence
      if packet.primaryFormat.codec.kind == .audio {
        sound.add(packet, into: &frames)
      } else {
        pictures.add(packet, into: &frames)
      }
    }
  }
}

/// Frames of any bytes into packets: none is too long, and what is divided is joined as it was.
@Sendable func fuzzPacketizer(_ bytes: UnsafeRawBufferPointer) {
  guard bytes.count > 2 else { return }
  let codec = [Codec.vp8, .vp9, .av1, .h264][Int(bytes[0] & 3)]
  let maximum = 64 + Int(bytes[1])
  guard var packetizer = Packetizer(codec, maximum: maximum) else { return }
  let payloads = packetizer.payloads(of: Array(bytes.dropFirst(2)))
  var assembler = FrameAssembler()
  var frames: [EncodedFrame] = []
  for (index, payload) in payloads.enumerated() {
    check(!payload.bytes.isEmpty && payload.bytes.count <= maximum, "a payload fits")
    check(payload.marker == (index == payloads.count - 1), "the last has the mark")
    assembler.add(
      FramePacket(
        sequence: Int64(index), timestamp: 0, marker: payload.marker, format: CodecFormat(codec),
        arrival: Instant(nanoseconds: 0), payload: payload.bytes), into: &frames)
  }
  check(frames.count <= 1, "a frame stays one")
  if codec == .vp8 || codec == .vp9, !payloads.isEmpty {
    check(frames.first.map { $0.bytes.elementsEqual(bytes.dropFirst(2)) } ?? false, "and as it was")
  }
}

/// What files say of a codec in front, of parameter sets of any bytes.
@Sendable func fuzzConfiguration(_ bytes: UnsafeRawBufferPointer) {
  let set = Array(bytes)
  if let record = H264Configuration.record(sequence: set, picture: [0x68]) {
    check(record.count >= set.count + 11, "the set is in it")
    check(H264Configuration.read(record)?.sets.first == set, "and comes out of it")
  }
  if let (width, sets) = H264Configuration.read(set) {
    check(width != 3 && sets.reduce(7) { $0 + $1.count + 2 } <= set.count, "sets lie in their record")
  }
  if let record = H265Configuration.record(video: [0x40, 1], sequence: set, picture: [0x44, 1]) {
    check(record.count == set.count + 42, "the sets are in it")
  }
  if let record = AV1Configuration.record(sequence: set) {
    check(record.suffix(set.count) == set[...], "so is the header")
  }
  for unit in NALUnits.betweenStartCodes(set) {
    check(!unit.isEmpty && unit.upperBound <= set.count, "units lie in it")
  }
  for width in 1...4 {
    for unit in NALUnits.behindSizes(set, width: width) ?? [] { check(!unit.isEmpty, "units are something") }
  }
  _ = VP9FrameHeader(bytes)
  if let unit = AV1Unit(bytes) { check(unit.content.upperBound <= bytes.count, "a unit lies in it") }
}
