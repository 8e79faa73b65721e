import Model
import Testing
import Wire

@Suite("What files say of a codec in front", .timeLimit(.minutes(1)))
struct ConfigurationTests {
  static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  @Test func `H.264 is described as ffmpeg describes it, in baseline and in 4:2:2 of ten bits`() {
    let plain = Self.bytes(
      "0142c00affe100176742c00ad9047b0110000003001000000301 40f12264 80 01 0005 68cb83cb20")
    let sequence = Array(plain[8..<31])
    #expect(H264Configuration.record(sequence: sequence, picture: Array(plain[34...])) == plain)
    let high = Self.bytes(
      "017a000affe10018677a000ab6cd9447b0110000030001000003 00140f122596 01 0006 68ebe3cb22c0 fefafa00")
    #expect(
      H264Configuration.record(sequence: Array(high[8..<32]), picture: Array(high[35..<41])) == high)
    let read = H264Configuration.read(plain)
    #expect(read?.width == 4 && read?.sets == [sequence, Array(plain[34...])])
    #expect(H264Configuration.read(high)?.sets == [Array(high[8..<32]), Array(high[35..<41])])
    // Cut anywhere before its sets end it is none.
    for size in 0..<plain.count { #expect(H264Configuration.read(Array(plain[..<size])) == nil, "\(size)") }
    #expect(H264Configuration.record(sequence: [0x67, 1], picture: [0x68]) == nil)
    #expect(H264Configuration.record(sequence: sequence, picture: []) == nil)
    // One of the higher profiles that is cut before it says how colours are sampled.
    #expect(H264Configuration.record(sequence: [0x67, 0x7A, 0, 10], picture: [0x68]) == nil)
    #expect(
      H264Configuration.record(sequence: sequence + [UInt8](repeating: 0, count: 70_000), picture: [0x68])
        == nil)
  }

  @Test func `H.265 is described as ffmpeg describes it, but for the messages that it adds`() throws {
    let video = Self.bytes("40010c01ffff0408000003009d0800000300001e9598 09")
    let sequence = Self.bytes(
      "4201010408000003009d0800000300001eb0208313 65959ae4caf01680800000030080000005 04")
    let picture = Self.bytes("4401c173d089")
    let record = try #require(
      H265Configuration.record(video: video, sequence: sequence, picture: picture))
    #expect(Array(record[..<22]) == Self.bytes("01040800 00009d08 00000000 1ef000fc fefafa00 000f"))
    #expect(record[22] == 3)
    #expect(Array(record[23..<51]) == Self.bytes("20000100 17") + video)
    #expect(record.suffix(11) == Self.bytes("2200010006") + picture)
    #expect(
      H265Configuration.record(video: video, sequence: Array(sequence.prefix(12)), picture: picture) == nil)
    #expect(H265Configuration.record(video: [], sequence: sequence, picture: picture) == nil)
  }

  @Test func `AV1 is described as ffmpeg describes it, in 4:2:0 and in 4:4:4 of ten bits`() {
    for record in ["81000c000a0a00000002aff79b5f2008", "812040000a0a20000002aff79b5f2840"].map(Self.bytes) {
      #expect(AV1Configuration.record(sequence: Array(record[6...])) == record)
    }
    #expect(AV1Configuration.record(sequence: Self.bytes("00000002aff7")) == nil)
    #expect(AV1Configuration.record(sequence: []) == nil)
  }

  @Test func `units lie between start codes of three and four bytes, or behind sizes`() {
    let bytes: [UInt8] = [0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 0, 0, 0, 1, 0x65, 0, 2, 0, 0]
    #expect(
      NALUnits.betweenStartCodes(bytes).map { Array(bytes[$0]) } == [[0x67, 1], [0x68], [0x65, 0, 2]])
    #expect(NALUnits.betweenStartCodes([1, 2, 3]) == [])
    #expect(NALUnits.behindSizes([0, 1, 7, 0, 0, 0, 2, 8, 9], width: 2) == [2..<3, 7..<9])
    #expect(NALUnits.behindSizes([0, 2, 7], width: 2) == nil)
    #expect(NALUnits.behindSizes([0], width: 2) == nil)
  }

  @Test func `a key frame of VP9 says how large it is, others don't`() {
    func read(_ bytes: [UInt8]) -> VP9FrameHeader? { withBytes(bytes) { VP9FrameHeader($0) } }
    // Profile 0, 64 × 48, and an inter frame; profile 1 with its own sampling.
    let key = read(Self.bytes("82498342000 3f002f0"))
    #expect(key?.isKeyFrame == true && key?.size?.width == 64 && key?.size?.height == 48)
    let inter = read([0x86, 0])
    #expect(inter?.isKeyFrame == false && inter?.size == nil)
    #expect(read([0x82, 0x49, 0x83]) == nil)
    #expect(read([0x00]) == nil && read([]) == nil)
    #expect(VP9FrameHeader.index(of: [9, 300]) == [0xC9, 9, 0, 0x2C, 1, 0xC9])
  }
}
