import Model
import Testing

@testable import Rooms

/// What is settled, in any order and through any crash, is not given out again once the store knows it, and nothing is left out.
@Suite("How far a receiver of events has come", .timeLimit(.minutes(1)))
struct DeliveryProgressTests {
  private static let a = RoomID(naming: "RM_a")
  private static let b = RoomID(naming: "RM_b")

  private func mark(_ id: Int, _ position: UInt64) -> DeliveryProgress.Settled {
    DeliveryProgress.Settled(id: id, position: position)
  }

  @Test func `all before the oldest that waits is settled`() {
    var progress = DeliveryProgress(floor: 10)
    let nothing = progress.takeChanges()
    #expect(progress.floor == 10 && nothing == nil)
    for (position, room, id) in [(11, Self.a, 1), (12, Self.b, 1), (14, Self.a, 2)] {
      let isNew = progress.begin(id, of: room, at: UInt64(position))
      #expect(isNew)
    }
    #expect(progress.floor == 10)
    let isNews = progress.settle(mark(1, 12), next: nil, of: Self.b)
    #expect(isNews)
    let first = progress.takeChanges()
    #expect(first?.floor == 10 && first?.rooms == [Self.b: mark(1, 12)])
    _ = progress.settle(mark(1, 11), next: 14, of: Self.a)
    #expect(progress.floor == 13)
    _ = progress.settle(mark(2, 14), next: nil, of: Self.a)
    #expect(progress.floor == 14)
    let last = progress.takeChanges()
    #expect(last?.rooms == [:])
  }

  @Test func `with an event all before it of its room are settled, and none that was given out meanwhile is`()
  {
    var progress = DeliveryProgress(floor: 0)
    for id in 1...3 { _ = progress.begin(id, of: Self.a, at: UInt64(id * 10)) }
    // Who says so doesn't know of the third yet.
    let goesOn = progress.settle(mark(2, 20), next: nil, of: Self.a)
    #expect(goesOn && progress.floor == 20)
    // What is settled, or was never given out, changes nothing.
    for (event, room) in [
      (mark(1, 10), Self.a), (mark(2, 20), Self.a), (mark(9, 90), Self.a), (mark(1, 10), Self.b),
    ] {
      let isNews = progress.settle(event, next: nil, of: room)
      #expect(!isNews)
    }
    #expect(progress.floor == 20)
    _ = progress.settle(mark(3, 30), next: nil, of: Self.a)
    #expect(progress.floor == 30)
  }

  @Test func `what is given up is waited for no more, whatever room it is of, and what is behind it is`() {
    var progress = DeliveryProgress(floor: 0)
    for (id, room, position) in [(1, Self.a, 1), (1, Self.b, 2), (2, Self.a, 3), (2, Self.b, 9)] {
      _ = progress.begin(id, of: room, at: UInt64(position))
    }
    progress.giveUp(upTo: 5)
    #expect(progress.floor == 5)
    let isNews = progress.settle(mark(2, 3), next: nil, of: Self.a)
    #expect(!isNews)
    _ = progress.settle(mark(2, 9), next: nil, of: Self.b)
    #expect(progress.floor == 9)
    // Of what wasn't given out yet, too.
    progress.giveUp(upTo: 20)
    #expect(progress.floor == 20)
    let changes = progress.takeChanges()
    #expect(changes?.floor == 20 && changes?.rooms == [:])
  }

  @Test func `what could not be written is written the next time, a floor alone too`() {
    var progress = DeliveryProgress(floor: 0)
    _ = progress.begin(1, of: Self.a, at: 1)
    _ = progress.settle(mark(1, 1), next: nil, of: Self.a)
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

  @Test func `what it takes to remember grows with rooms, not with their events`() {
    var progress = DeliveryProgress(floor: 0)
    let clock = ContinuousClock()
    let time = clock.measure {
      for id in 1...300_000 { _ = progress.begin(id, of: Self.a, at: UInt64(id)) }
      for id in 1...300_000 {
        _ = progress.settle(mark(id, UInt64(id)), next: UInt64(id + 1), of: Self.a)
      }
    }
    #expect(progress.floor == 300_000)
    #expect(time < .seconds(20), "\(time)")
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
          // The first of a room.
          guard !waiting.isEmpty else { continue }
          let room = waiting[Int(random.next() % UInt64(waiting.count))].room
          let ofRoom = waiting.indices.filter { waiting[$0].room == room }
          let next = ofRoom.count > 1 ? waiting[ofRoom[1]].position : nil
          let event = waiting.remove(at: ofRoom[0])
          _ = progress.settle(
            mark(event.id, event.position), next: random.next() % 2 == 0 ? next : nil, of: event.room)
          settled.insert(event.position)
        case 7 where random.next() % 8 == 0:
          // All that is old.
          let position = given - min(given, random.next() % 20)
          progress.giveUp(upTo: position)
          for event in waiting where event.position <= position { settled.insert(event.position) }
          waiting.removeAll { $0.position <= position }
          #expect(progress.floor >= position)
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
        let oldest = waiting.map(\.position).min()
        #expect(progress.floor < oldest ?? .max)
      }
    }
  }
}
