import Foundation
import FuzzTargets
import Testing

@Suite("Fuzz targets", .timeLimit(.minutes(5)))
struct FuzzTests {
  static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fuzz/Corpus")

  /// The files of a target's corpus, in the order of their names.
  static func inputs(_ target: String) throws -> [[UInt8]] {
    let folder = corpus.appending(path: target)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      Array(try Data(contentsOf: folder.appending(path: $0)))
    }
  }

  /// In memory of the input's exact size, so that the address sanitizer sees a read behind it.
  static func run(_ target: FuzzTarget, _ input: [UInt8]) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count, alignment: 1)
    defer { buffer.deallocate() }
    buffer.copyBytes(from: input)
    target.run(UnsafeRawBufferPointer(buffer))
  }

  @Test func `every target has a corpus and every corpus a target`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    #expect(Set(folders) == Set(fuzzTargets.map(\.name)))
    #expect(Set(fuzzTargets.map(\.name)).count == fuzzTargets.count)
  }

  @Test(arguments: fuzzTargets.map(\.name))
  func `the corpus and mutations of it break no promise`(name: String) throws {
    let target = try #require(fuzzTargets.first { $0.name == name })
    let inputs = try Self.inputs(name)
    try #require(!inputs.isEmpty)
    for input in inputs { Self.run(target, input) }
    // The same mutations in every process: the seed is the name's FNV-1a hash.
    var mutator = Mutator(
      state: name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    for _ in 0..<target.mutations { Self.run(target, mutator.mutation(of: inputs)) }
  }
}

/// Makes inputs that are nearly right: what a fuzzer does first, without its feedback.
struct Mutator: RandomNumberGenerator {
  var state: UInt64

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }

  mutating func mutation(of inputs: [[UInt8]]) -> [UInt8] {
    var bytes = inputs[below(inputs.count)]
    for _ in 0...below(4) {
      let place = below(bytes.count)
      switch below(8) {
      case 0 where !bytes.isEmpty: bytes[place] ^= 1 << UInt8(below(8))
      case 1 where !bytes.isEmpty: bytes[place] = UInt8(below(256))
      case 2 where !bytes.isEmpty: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][below(5)]
      case 3: bytes = Array(bytes[..<below(bytes.count + 1)])
      case 4: bytes.insert(UInt8(below(256)), at: place)
      case 5 where !bytes.isEmpty: bytes.remove(at: place)
      case 6:
        // The front of one and the back of another.
        let other = inputs[below(inputs.count)]
        bytes = Array(bytes[..<place] + other[below(other.count)...])
      default:
        // A stretch again, as where a count lies.
        let end = min(bytes.count, place + 1 + below(16))
        bytes.insert(contentsOf: bytes[min(place, end)..<end], at: end)
      }
    }
    return Array(bytes.prefix(4_096))
  }
}
