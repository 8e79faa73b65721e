import Model
import Testing

@Suite("Codec formats", .timeLimit(.minutes(2)))
struct CodecFormatTests {
  private var all: [CodecFormat] { (0...255).compactMap { CodecFormat(rawValue: $0) } }

  @Test func `each has a number of its own below the limit`() {
    #expect(all.count == 29)
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
    for profile in H265Profile.allCases {
      for tier: UInt8 in 0...1 {
        let format = try #require(CodecFormat.h265(profile, tier: tier))
        let read = try #require(CodecFormat(rawValue: format.rawValue)?.h265)
        #expect(read == (profile, tier) && format.codec == .h265 && format.h264 == nil)
      }
    }
    #expect((0...3).allSatisfy { CodecFormat.vp9(profile: $0)?.profile == $0 })
    #expect((0...2).allSatisfy { CodecFormat.av1(profile: $0)?.profile == $0 })
    #expect(CodecFormat.vp9(profile: 4) == nil && CodecFormat.av1(profile: 3) == nil)
    #expect(CodecFormat.h264(.main, mode: 2) == nil && CodecFormat.h265(.main, tier: 2) == nil)
    #expect(try #require(CodecFormat(.h265).h265) == (.main, 0), "what is meant where nothing is said")
  }

  @Test func `a format takes itself, and of H.264 and H.265 what is part of it`() throws {
    for format in all { #expect(all.filter { format.takes($0) }.contains(format)) }
    for format in all where ![.h264, .h265].contains(format.codec) {
      #expect(all.filter { format.takes($0) } == [format])
    }
    let formats = try H265Profile.allCases.flatMap { profile in
      try (0...1 as ClosedRange<UInt8>).map { try #require(CodecFormat.h265(profile, tier: $0)) }
    }
    #expect(
      formats.map { format in formats.map { format.takes($0) ? 1 : 0 } } == [
        [1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1],
      ])
    #expect(formats.allSatisfy { format in all.filter { format.takes($0) }.allSatisfy { $0.codec == .h265 } })
    let high = try #require(CodecFormat.h264(.high, mode: 1))
    let taken = all.filter { high.takes($0) }.compactMap(\.h264)
    #expect(taken.count == 8)
    #expect(!taken.contains { $0.profile == .baseline || $0.profile == .high444 })
    let single = try #require(CodecFormat.h264(.high, mode: 0))
    #expect(!single.takes(high) && high.takes(single))
  }
}
