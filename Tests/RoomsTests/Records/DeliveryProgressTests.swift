import Model
import Testing

@testable import Rooms

/// What is settled, in any order and through any crash, is not given out again once the store knows it, and nothing is left out.
@Suite("How far a receiver of events has come", .timeLimit(.minutes(1)))
struct DeliveryProgressTests {
  private static let a = RoomID(naming: "RM_a")
  private static let b = RoomID(naming: "RM_b")

  @Test func `all before the oldest that waits is settled`() {
    var progress = DeliveryProgress(floor: 10)
    let nothing = progress.takeChanges()
    #expect(progress.floor == 10 && nothing == nil)
    for (position, room, id) in [(11, Self.a, 1), (12, Self.b, 1), (14, Self.a, 2)] {
      let isNew = progress.begin(id, of: room, at: UInt64(position))
      #expect(isNew)
    }
    #expect(progress.floor == 10 && progress.waiting == 3)
    let isNews = progress.settle(1, of: Self.b)
    #expect(isNews)
    let first = progress.takeChanges()
    #expect(first?.floor == 10 && first?.rooms == [Self.b: .init(id: 1, position: 12)])
    _ = progress.settle(1, of: Self.a)
    #expect(progress.floor == 13)
    _ = progress.settle(2, of: Self.a)
    #expect(progress.floor == 14 && progress.waiting == 0)
    let last = progress.takeChanges()
    #expect(last?.rooms == [:])
  }

  @Test func `one that is given up behind another counts with that one`() {
    var progress = DeliveryProgress(floor: 0)
    for id in 1...3 { _ = progress.begin(id, of: Self.a, at: UInt64(id)) }
    let waits = progress.settle(2, of: Self.a)
    #expect(!waits && progress.floor == 0)
    let goesOn = progress.settle(1, of: Self.a)
    #expect(goesOn && progress.floor == 2)
    // What was never given out, or is settled, changes nothing.
    for (id, room) in [(1, Self.a), (2, Self.a), (9, Self.a), (1, Self.b)] {
      let isNews = progress.settle(id, of: room)
      #expect(!isNews)
    }
    #expect(progress.floor == 2)
  }

  @Test func `what could not be written is written the next time, a floor alone too`() {
    var progress = DeliveryProgress(floor: 0)
    _ = progress.begin(1, of: Self.a, at: 1)
    _ = progress.settle(1, of: Self.a)
    let lost = progress.takeChanges()
    #expect(lost?.rooms.isEmpty == true && lost?.floor == 1)
    if let lost { progress.giveBack(lost) }
    #expect(progress.storedFloor == 0)
    let again = progress.takeChanges()
    #expect(again?.floor == 1)
    if let again { progress.written(again) }
    let nothing = progress.takeChanges()
    #expect(progress.storedFloor == 1 && nothing == nil)
  }

  /// The store as it is after each write, and the process that begins from it.
  private struct Store {
    var floor: UInt64 = 0
    var rooms: [RoomID: DeliveryProgress.Settled] = [:]

    mutating func write(_ changes: DeliveryProgress.Changes) {
      floor = changes.floor
      for (room, settled) in changes.rooms { rooms[room] = settled }
      rooms = rooms.filter { $0.value.position > floor }
    }

    func knows(_ event: (position: UInt64, room: RoomID, id: Int)) -> Bool {
      event.position <= floor || (rooms[event.room].map { event.id <= $0.id } ?? false)
    }
  }

  @Test(arguments: 0..<200) func `through crashes none is lost, and none that was written is given out again`(
    seed: UInt64
  ) {
    var random = RandomSource.seeded(state: seed)
    let names = (0..<4).map { RoomID(naming: "RM_\($0)") }
    var last = [Int](repeating: 0, count: names.count)
    var events: [(position: UInt64, room: RoomID, id: Int)] = []
    var store = Store()
    var settled: Set<UInt64> = []
    for _ in 0..<6 {
      var progress = DeliveryProgress(floor: store.floor, known: store.rooms)
      var given = store.floor
      var waiting: [(position: UInt64, room: RoomID, id: Int)] = []
      for _ in 0..<Int(random.next() % 120) {
        switch random.next() % 8 {
        case 0...2:
          let room = Int(random.next() % UInt64(names.count))
          last[room] += 1
          // Some positions have no event.
          let position = (events.last?.position ?? 0) + 1 + random.next() % 2
          events.append((position, names[room], last[room]))
        case 3, 4:
          for event in events where event.position > given {
            given = event.position
            let isNew = progress.begin(event.id, of: event.room, at: event.position)
            #expect(isNew == !store.knows(event))
            if isNew { waiting.append(event) }
          }
        case 5, 6:
          // The first of a room, or, given up, the one behind it.
          guard !waiting.isEmpty else { continue }
          let room = waiting[Int(random.next() % UInt64(waiting.count))].room
          let ofRoom = waiting.indices.filter { waiting[$0].room == room }
          let chosen = ofRoom[min(Int(random.next() % 2), ofRoom.count - 1)]
          let event = waiting.remove(at: chosen)
          _ = progress.settle(event.id, of: event.room)
          settled.insert(event.position)
        default:
          guard let changes = progress.takeChanges() else { continue }
          if random.next() % 4 == 0 {
            progress.giveBack(changes)
          } else {
            store.write(changes)
            progress.written(changes)
          }
        }
        for event in events where store.knows(event) {
          #expect(settled.contains(event.position), "seed \(seed)")
        }
        #expect(progress.waiting >= waiting.count)
      }
    }
  }
}
