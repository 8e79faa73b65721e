import Model
import Testing

@testable import Media

/// Packets that a stream leaves out, some of them after others behind them were selected.
@Suite("Places that a stream leaves out", .timeLimit(.minutes(1)))
struct ClosedPlacesTests {
  /// The places where expectations can look at them.
  private final class Places {
    private var closed = ClosedPlaces()

    var join: UInt8 { closed.join }
    func close(_ sequence: Int64, picture: UInt16) { closed.close(sequence, picture: picture) }
    func insert(_ sequence: Int64, pictures: UInt16) -> Bool { closed.insert(sequence, pictures: pictures) }
    func goesOn(_ picture: UInt16) { closed.goesOn(picture) }
    func beginAgain() { closed.beginAgain() }
    func places(before sequence: Int64) -> Int64? { closed.before(sequence, join: closed.join)?.places }
    func pictures(before sequence: Int64) -> UInt16? { closed.before(sequence, join: closed.join)?.pictures }
    func source(ofPlace place: Int64) -> Int64? { closed.source(ofPlace: place, join: closed.join) }

    /// Puts them out and back in as bytes.
    func rebuild() throws {
      var writer = StateWriter()
      closed.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      closed = try ClosedPlaces(from: &reader)
      try reader.finish()
    }
  }

  @Test(arguments: 0..<30)
  func `whatever is left out, in whatever order, numbers and picture ids run on, and lead back`(seed: UInt64)
    throws
  {
    var random = RandomSource.seeded(state: seed)
    let places = Places()
    var closed: [Int64: UInt16] = [:]
    var (first, next): (Int64, Int64) = (1_000, 1_000)
    for step in 0..<1_500 {
      switch random.next() % 8 {
      case 0, 1:
        places.close(next, picture: UInt16(truncatingIfNeeded: next))
        closed[next] = 1
        next += 1
      case 2, 3:
        let sequence = max(first, next - 1 - Int64(random.next() % 40))
        guard sequence < next, closed[sequence] == nil else { continue }
        let pictures = UInt16(random.next() % 2)
        try #require(places.insert(sequence, pictures: pictures))
        closed[sequence] = pictures
      default: next += 1
      }
      if step % 300 == 299 {
        places.beginAgain()
        closed = [:]
        first = next
      }
      if step % 50 == 49 { try places.rebuild() }
      let looked = max(first, next - Int64(random.next() % 50))
      let before = closed.filter { $0.key < looked }
      guard closed[looked] == nil else {
        try #require(places.places(before: looked) == nil)
        try #require(!places.insert(looked, pictures: 1), "it is left out already")
        continue
      }
      let number = Int64(before.count)
      try #require(places.places(before: looked) == number)
      try #require(places.pictures(before: looked) == before.values.reduce(0, &+))
      try #require(places.source(ofPlace: looked - number) == looked)
    }
  }

  @Test func `what comes of a picture that was taken out counts as no other`() {
    let places = Places()
    #expect(places.insert(10, pictures: 1))
    places.goesOn(77)
    places.close(11, picture: 77)
    places.close(12, picture: 78)
    #expect(places.pictures(before: 13) == 2 && places.places(before: 13) == 3)
  }

  @Test func `there are no more than are kept, and what is older than those stays open`() {
    let places = Places()
    for number in 0..<200 as Range<Int64> { places.close(number * 2, picture: 0) }
    #expect(!places.insert(101, pictures: 1), "it would be the oldest")
    #expect(places.insert(301, pictures: 1))
    #expect(places.places(before: 399) == 201 && places.source(ofPlace: 399 - 201) == 399)
    #expect(places.places(before: 3) == nil)
  }
}
