import Calls
import Synchronization
import Testing

@testable import CallDesk

@Suite("What was decided is carried out in order", .timeLimit(.minutes(1)))
struct OrderedOutletTests {
  /// Notes by whose listener it is known what came.
  private final class Notes: CallOutlet {
    private let seen = Mutex<[Int]>([])
    func perform(_ aftermath: Aftermath) {
      for listener in aftermath.listeners { seen.withLock { $0.append(Int(listener.text) ?? -1) } }
    }
    func readers(of person: PersonID) -> EventReaders { EventReaders() }
    var all: [Int] { seen.withLock { $0 } }
  }

  private func aftermath(_ number: Int) -> Aftermath {
    var aftermath = Aftermath()
    aftermath.listeners = [PersonID("\(number)")]
    return aftermath
  }

  @Test func `what comes early waits for those before it, and what came to nothing holds up none`() {
    let notes = Notes()
    let outlet = OrderedOutlet(notes)
    let places = (0..<4).map { _ in outlet.take() }
    outlet.settle(places[3], aftermath(3))
    outlet.settle(places[1], nil)
    #expect(notes.all.isEmpty)
    outlet.settle(places[0], aftermath(0))
    #expect(notes.all == [0])
    outlet.settle(places[2], aftermath(2))
    #expect(notes.all == [0, 2, 3])
  }

  @Test func `of a decision that is tried again the last try counts`() {
    let notes = Notes()
    let outlet = OrderedOutlet(notes)
    let (first, second) = (DecisionPlaces(outlet), DecisionPlaces(outlet))
    first.take()
    second.take()
    first.take()
    second.settle(aftermath(2))
    #expect(notes.all.isEmpty)
    first.settle(aftermath(1))
    // Its first place is given up, so that the second's turn comes before its last.
    #expect(notes.all == [2, 1])
    DecisionPlaces(outlet).settle(aftermath(9))
    #expect(notes.all == [2, 1])
  }

  @Test func `whatever order many threads settle in, it is that of the places`() async {
    let notes = Notes()
    let outlet = OrderedOutlet(notes)
    let places = (0..<2_000).map { _ in outlet.take() }
    await withTaskGroup(of: Void.self) { group in
      for number in places.indices.shuffled() {
        let aftermath = aftermath(number)
        group.addTask { outlet.settle(places[number], aftermath) }
      }
    }
    #expect(notes.all == Array(0..<2_000))
  }
}
