import Testing

@testable import Rooms

@Suite("Rows as they are to be", .timeLimit(.minutes(1)))
struct RowChangesTests {
  @Test func `the last word about a row holds, and a row that the table never had leaves nothing`() {
    var changes = RowChanges<String, Int>()
    changes.set("a", 1, isNew: true)
    changes.set("a", 2, isNew: false)
    #expect(changes.present.map(\.value) == [2])
    changes.remove("a")
    #expect(changes.isEmpty)
    changes.set("b", 1, isNew: false)
    changes.remove("b")
    #expect(changes.gone == ["b"])
    changes.set("b", 3, isNew: true)
    #expect(changes.present.map(\.value) == [3] && changes.gone.isEmpty)
  }

  @Test func `what was not written waits again, behind what has been said since`() {
    var changes = RowChanges<String, Int>()
    for (key, isNew) in [("stays", true), ("goes", true), ("went", false), ("changes", true)] {
      changes.set(key, 1, isNew: isNew)
    }
    let taken = changes
    changes = RowChanges()
    changes.remove("goes")
    changes.remove("went")
    changes.set("changes", 2, isNew: false)
    changes.giveBack(taken, mayBeDone: false)
    #expect(changes["stays"] == 1 && changes["changes"] == 2)
    // The table has never heard of the one, and of the other it may have.
    #expect(changes.gone == ["went"])
    changes.remove("changes")
    changes.remove("stays")
    #expect(changes.byKey.keys.sorted() == ["went"])
  }

  @Test func `where it isn't known whether it was written, a row that has gone is deleted`() {
    var changes = RowChanges<String, Int>()
    changes.set("a", 1, isNew: true)
    let taken = changes
    changes = RowChanges()
    changes.remove("a")
    changes.giveBack(taken, mayBeDone: true)
    #expect(changes.gone == ["a"])
    changes = RowChanges()
    changes.giveBack(taken, mayBeDone: true)
    changes.remove("a")
    #expect(changes.gone == ["a"])
  }

  @Test func `as many come and go as like, and what waits stays bounded`() {
    var changes = RowChanges<Int, Int>()
    for number in 0..<200_000 {
      changes.set(number, 1, isNew: true)
      changes.remove(number)
    }
    #expect(changes.isEmpty)
    var kept = 0
    for number in 0..<100_000 where changes.remove(number) { kept += 1 }
    #expect(kept == 65_536 && changes.byKey.count == kept)
    // One that is there again makes room.
    changes.set(0, 1, isNew: false)
    #expect(changes.remove(99_999) && !changes.remove(99_998))
  }
}
