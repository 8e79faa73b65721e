import Model
import Testing

@testable import Media
@testable import Peer

/// Where something has waited for a tenth of a second, what no other frame refers to is taken out of what waits.
@Suite("Frames that no other refers to, where much waits", .timeLimit(.minutes(1)))
struct WaitingFramesTests {
  private func slot(isNumbered: Bool = true) throws -> WaitingSlot {
    let slot = try WaitingSlot(isNumbered: isNumbered)
    slot.begin()
    slot.fill()
    return slot
  }

  @Test func `they go whole, and what others refer to stays`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 2, [.discardable]))
    slot.take(slot.info(105, layer: 2, [.discardable], of: 104))
    slot.take(slot.info(106, layer: 1))
    slot.take(slot.info(107, layer: 2, [.discardable]))
    slot.pass(100)
    slot.look()
    #expect(slot.waiting == 5, "it isn't long yet")
    slot.pass(1)
    slot.look()
    #expect(slot.waiting == 2)
    #expect(slot.leave() == [103, 106])
    slot.take(slot.info(108))
    #expect(slot.leave() == [108] && slot.isWithoutGap)
    #expect(slot.dropped == 0 && !slot.needsKeyFrame && !slot.isCut())
  }

  @Test func `one that has begun isn't left without its end`() throws {
    let slot = try WaitingSlot()
    slot.begin()
    slot.take(slot.info(103, layer: 2, [.discardable]))
    #expect(slot.leave() == [103])
    slot.fill()
    slot.take(slot.info(104, layer: 2, [.discardable], of: 103))
    slot.take(slot.info(105, layer: 2, [.discardable]))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == [104] && slot.isWithoutGap)
  }

  @Test func `what comes of one that was taken out goes as well`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 2, [.discardable]))
    slot.pass(150)
    slot.look()
    #expect(slot.waiting == 1)
    slot.take(slot.info(105, layer: 2, [.discardable], of: 104))
    slot.take(slot.info(106))
    #expect(slot.leave() == [103, 106] && slot.isWithoutGap)
  }

  @Test func `a picture of which a part is referred to stays whole`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 2, [.discardable]))
    slot.take(slot.info(105, layer: 2, of: 104))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == [103, 104, 105] && slot.isWithoutGap)
  }

  /// The receiver counts on the index of the lowest layer.
  @Test(arguments: [false, true])
  func `one of the lowest layer goes where no index counts it`(isNumbered: Bool) throws {
    let slot = try slot(isNumbered: isNumbered)
    slot.take(slot.info(103))
    slot.take(slot.info(104, [.discardable]))
    slot.take(slot.info(105))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == (isNumbered ? [103, 104, 105] : [103, 105]) && slot.isWithoutGap)
  }

  @Test func `a packet that came late keeps its place among what is taken out`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(105, layer: 2, [.discardable]))
    slot.take(slot.info(104, of: 103))
    slot.take(slot.info(106))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == [103, 104, 106] && slot.isWithoutGap)
  }

  /// libwebrtc keeps all that follows of the layer up to the next beginning where it lacks this one.
  @Test func `one that begins its layer stays where an index counts it: 0, free sync of 2, 2`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 2, [.discardable, .switchingPoint]))
    slot.take(slot.info(105, layer: 2))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == [103, 104, 105])
    slot.fill()
    slot.take(slot.info(106))
    slot.pass(150)
    slot.take(slot.info(107, layer: 2, [.discardable, .switchingPoint]))
    #expect(slot.leave() == [106, 107] && slot.isWithoutGap, "nor is it left out as it comes")
  }

  @Test func `of a packet that comes again the place may be gone: 103, free 104, 104, 105`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 2, [.discardable]))
    slot.take(slot.info(104, layer: 2, [.discardable]))
    slot.take(slot.info(105))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == [103, 105] && slot.isWithoutGap, "it would take the number of 105")
  }

  @Test func `all slots are looked through, each once`() throws {
    let slot = try WaitingSlot(slots: 3)
    for index in 0..<3 { slot.take(slot.info(100, [.keyFrame]), slot: index) }
    #expect(slot.leave() == [100, 10_100, 20_100])
    slot.fill()
    for index in 0..<3 {
      slot.take(slot.info(101), slot: index)
      slot.take(slot.info(102, layer: 2, [.discardable]), slot: index)
    }
    slot.pass(150)
    slot.look()
    #expect(slot.waiting == 3)
    let again = slot.far.peer.egress.queue.takeFree(now: slot.far.now, longer: .milliseconds(100))
    #expect(again == nil, "nothing has come since then")
  }
}
