import Model
import Testing

@testable import Rooms

@Suite("Which slot shows which track")
struct SlotTableTests {
  var random = RandomSource.seeded(state: 1)

  mutating func track(_ kind: MediaKind, _ group: String) -> SlotTable.Track {
    let key = TrackKey(peer: PeerKey(rawValue: random.next()), index: 0)
    return SlotTable.Track(id: TrackID(&random), key: key, kind: kind, group: group)
  }

  func slot(_ index: Int, _ kind: MediaKind, pair: Int) -> SendSection {
    SendSection(
      index: UInt16(index), mid: "m\(index)", kind: kind, codecs: [], extensions: HeaderExtensionMap(),
      ssrc: UInt32(index), rtxSSRC: nil, cname: "c\(pair)", streamID: "s\(pair)")
  }

  /// Pairs of an audio slot 2n and a video slot 2n + 1.
  func pairs(_ count: Int) -> [SendSection] {
    (0..<count).flatMap { [slot(2 * $0, .audio, pair: $0), slot(2 * $0 + 1, .video, pair: $0)] }
  }

  func shown(_ table: SlotTable) -> [TrackID?] { table.slots.map { $0.track?.id } }

  @Test mutating func `sound and picture of one person share a pair, whatever came between`() {
    var table = SlotTable()
    _ = table.apply(pairs(3))
    let voiceA = track(.audio, "a")
    let voiceB = track(.audio, "b")
    let pictureB = track(.video, "b")
    let pictureA = track(.video, "a")
    let screenA = track(.video, "a/screen")
    for next in [voiceA, voiceB, pictureB, pictureA, screenA] {
      #expect(table.add(next).map(\.track) == [next])
    }
    #expect(shown(table) == [voiceA.id, pictureA.id, voiceB.id, pictureB.id, nil, screenA.id])
  }

  @Test mutating func `without an empty pair any slot of the kind will do`() {
    var table = SlotTable()
    _ = table.apply(pairs(1))
    let voice = track(.audio, "a")
    let picture = track(.video, "b")
    _ = table.add(voice)
    #expect(table.add(picture).map(\.index) == [1])
  }

  @Test mutating func `what finds no slot waits, in order, and is counted by kind`() {
    var table = SlotTable()
    let tracks = [track(.video, "a"), track(.audio, "a"), track(.video, "b"), track(.video, "c")]
    for next in tracks { #expect(table.add(next).isEmpty) }
    #expect(table.shortage == (1, 3))
    let changed = table.apply(pairs(2))
    #expect(Set(changed.map(\.index)) == [0, 1, 3])
    #expect(table.shortage == (0, 1))
    #expect(shown(table)[1] == tracks[0].id && shown(table)[0] == tracks[1].id)
    #expect(shown(table)[3] == tracks[2].id)
    #expect(table.waiting == [tracks[3]])
  }

  @Test mutating func `the same track twice is one`() {
    var table = SlotTable()
    let picture = track(.video, "a")
    #expect(table.add(picture).isEmpty && table.add(picture).isEmpty)
    #expect(table.shortage == (0, 1))
    _ = table.apply(pairs(2))
    #expect(table.add(picture).isEmpty)
    #expect(shown(table).compactMap(\.self).count == 1)
  }

  @Test mutating func `a slot that is freed is filled with who waits, and told once`() {
    var table = SlotTable()
    _ = table.apply(pairs(1))
    let first = track(.video, "a")
    let second = track(.video, "b")
    _ = table.add(first)
    _ = table.add(second)
    let changed = table.remove(first.id)
    #expect(changed.map(\.index) == [1] && changed.map(\.track) == [second])
    let emptied = table.remove(second.id)
    #expect(emptied.map(\.index) == [1] && emptied[0].track == nil)
    #expect(table.remove(second.id).isEmpty)
    #expect(table.shortage == (0, 0))
  }

  @Test mutating func `who waits and leaves was never there`() {
    var table = SlotTable()
    let picture = track(.video, "a")
    _ = table.add(picture)
    #expect(table.remove(picture.id).isEmpty)
    #expect(table.apply(pairs(1)).isEmpty)
  }

  @Test mutating func `a description without a slot sends its track back to the front`() {
    var table = SlotTable()
    _ = table.apply(pairs(2))
    let first = track(.video, "a")
    let second = track(.video, "b")
    let third = track(.video, "c")
    for next in [first, second, third] { _ = table.add(next) }
    // The second pair's slots go; one comes under a new number.
    let changed = table.apply([slot(0, .audio, pair: 0), slot(1, .video, pair: 0), slot(9, .video, pair: 4)])
    #expect(changed.map(\.index) == [9] && changed[0].track == second)
    #expect(table.waiting == [third])
    #expect(table.slots.map(\.index) == [0, 1, 9] && table.slots[1].track == first)
    #expect(table.apply([]).isEmpty)
    #expect(table.shortage == (0, 3))
  }

  @Test mutating func `no track is lost, doubled or in a slot of the other kind, whatever happens`() {
    var table = SlotTable()
    var wanted: [TrackID: SlotTable.Track] = [:]
    var nextIndex = 0
    var sections: [SendSection] = []
    for _ in 0..<3_000 {
      switch random.next() % 5 {
      case 0 where sections.count < 12:
        sections.append(slot(nextIndex, random.next() % 2 == 0 ? .audio : .video, pair: nextIndex / 2))
        nextIndex += 1
        _ = table.apply(sections)
      case 1 where !sections.isEmpty && random.next() % 3 == 0:
        sections.remove(at: Int(random.next() % UInt64(sections.count)))
        _ = table.apply(sections)
      case 2:
        if let gone = wanted.keys.sorted(by: { $0.text < $1.text }).randomElement(using: &random) {
          _ = table.remove(gone)
          wanted[gone] = nil
        }
      default:
        guard wanted.count < 20 else { continue }
        let next = track(random.next() % 2 == 0 ? .audio : .video, "\(random.next() % 6)")
        wanted[next.id] = next
        _ = table.add(next)
      }
      let held = table.slots.compactMap(\.track) + table.waiting
      #expect(held.count == wanted.count && Set(held.map(\.id)) == Set(wanted.keys))
      #expect(table.slots.allSatisfy { $0.track == nil || $0.track?.kind == $0.kind })
      // Nobody waits beside a free slot.
      for kind in [MediaKind.audio, .video] where table.waiting.contains(where: { $0.kind == kind }) {
        #expect(!table.slots.contains { $0.kind == kind && $0.track == nil })
      }
    }
  }
}
