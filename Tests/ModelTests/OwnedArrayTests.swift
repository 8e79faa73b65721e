import Model
import Testing

@Suite("An array of what can't be copied", .timeLimit(.minutes(2)))
struct OwnedArrayTests {
  final class Alive { var count = 0 }
  struct Element: ~Copyable {
    let alive: Alive
    var number: Int
    init(_ number: Int, _ alive: Alive) {
      self.alive = alive
      self.number = number
      alive.count += 1
    }
    deinit { alive.count -= 1 }
  }

  @Test func `elements move when it grows, change in place, and end once`() {
    let alive = Alive()
    do {
      var array = OwnedArray<Element>()
      for number in 0..<100 { array.append(Element(number, alive)) }
      let count = array.count
      #expect(count == 100 && alive.count == 100)
      for index in 0..<100 { array.pointer(index).pointee.number *= 2 }
      array.append(Element(200, alive))
      let numbers = (0..<101).map { array.pointer($0).pointee.number }
      #expect(numbers == (0..<101).map { $0 * 2 })
      array.pointer(5).pointee = Element(7, alive)
      #expect(alive.count == 101)
    }
    #expect(alive.count == 0)
  }

  @Test func `an empty one has nothing to free`() {
    let array = OwnedArray<Element>()
    let count = array.count
    #expect(count == 0)
  }
}
