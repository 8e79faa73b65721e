import Model
import Testing

@Suite("Codec formats", .timeLimit(.minutes(2)))
struct CodecFormatTests {
  private var all: [CodecFormat] { (0...255).compactMap { CodecFormat(rawValue: $0) } }

  @Test func `each has a number of its own below the limit`() {
    #expect(all.count == 25)
    #expect(all.allSatisfy { $0.rawValue < CodecFormat.limit })
    for codec in Codec.allCases {
      #expect(CodecFormat(codec).codec == codec)
      #expect(all.contains(CodecFormat(codec)))
    }
  }

  @Test func `profiles and modes come back from the number`() throws {
    for profile in H264Profile.allCases {
      for mode: UInt8 in 0...1 {
        let format = try #require(CodecFormat.h264(profile, mode: mode))
        let read = try #require(CodecFormat(rawValue: format.rawValue)?.h264)
        #expect(read == (profile, mode) && format.codec == .h264)
      }
    }
    #expect((0...3).allSatisfy { CodecFormat.vp9(profile: $0)?.profile == $0 })
    #expect((0...2).allSatisfy { CodecFormat.av1(profile: $0)?.profile == $0 })
    #expect(CodecFormat.vp9(profile: 4) == nil && CodecFormat.av1(profile: 3) == nil)
    #expect(CodecFormat.h264(.main, mode: 2) == nil)
  }

  @Test func `a format takes itself, and of H.264 what is part of it`() throws {
    for format in all { #expect(all.filter { format.takes($0) }.contains(format)) }
    for format in all where format.codec != .h264 { #expect(all.filter { format.takes($0) } == [format]) }
    let high = try #require(CodecFormat.h264(.high, mode: 1))
    let taken = all.filter { high.takes($0) }.compactMap(\.h264)
    #expect(taken.count == 8)
    #expect(!taken.contains { $0.profile == .baseline || $0.profile == .high444 })
    let single = try #require(CodecFormat.h264(.high, mode: 0))
    #expect(!single.takes(high) && high.takes(single))
  }
}
