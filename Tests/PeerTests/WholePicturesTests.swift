import Model
import Testing

@testable import Media
@testable import Peer

/// Receivers who see no references take the rest of a picture that was taken out for one that they wait for: it goes whole, or stays.
@Suite("Pictures without named references", .timeLimit(.minutes(1)))
struct WholePicturesTests {
  private func slot(isNumbered: Bool = false, _ format: CodecFormat = .vp8) throws -> WaitingSlot {
    let slot = try WaitingSlot(isNumbered: isNumbered, format)
    slot.begin()
    slot.fill()
    return slot
  }

  @Test func `103, free 104, 106, a look, late 105 of 104: all leave`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 2, [.discardable]))
    slot.take(slot.info(106))
    slot.pass(150)
    slot.look()
    #expect(slot.waiting == 3, "105 may be of it")
    slot.take(slot.info(105, layer: 2, [.discardable, .marker], of: 104))
    #expect(slot.leave() == [103, 104, 106, 105])
  }

  @Test func `103, free 104, 106, late 105 of 104, a look: all leave`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 2, [.discardable]))
    slot.take(slot.info(106))
    slot.take(slot.info(105, layer: 2, [.discardable, .marker], of: 104))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == [103, 104, 106, 105])
  }

  @Test func `103, free 105 without its beginning 104, 106: all leave`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(105, layer: 2, [.discardable, .marker], of: 104))
    slot.take(slot.info(106))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == [103, 105, 106])
  }

  @Test(arguments: [false, true])
  func `103, free 104 at the end: it goes where it is known to be all`(isMarked: Bool) throws {
    let slot = try slot()
    slot.take(slot.info(103))
    slot.take(slot.info(104, layer: 2, isMarked ? [.discardable, .marker] : [.discardable]))
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == (isMarked ? [103] : [103, 104]) && slot.isWithoutGap)
  }

  @Test func `103, free 104, 105, free 106 at the end: both go`() throws {
    let slot = try slot()
    slot.take(slot.info(103))
    for number in [104, 106] as [Int64] {
      slot.take(slot.info(number, layer: 2, [.discardable, .marker]))
      if number == 104 { slot.take(slot.info(105)) }
    }
    slot.pass(150)
    slot.look()
    #expect(slot.leave() == [103, 105] && slot.isWithoutGap)
  }

  @Test(arguments: [false, true])
  func `overdue 103 of layer 1, 105 or 104: a key frame where 104 may be of it`(isMissing: Bool) throws {
    let slot = try slot()
    slot.take(slot.info(103, layer: 1))
    slot.pass(50)
    slot.take(slot.info(isMissing ? 105 : 104))
    slot.pass(251)
    slot.look()
    #expect(slot.needsKeyFrame == isMissing && slot.isCut() == isMissing)
    #expect(slot.leave() == (isMissing ? [] : [104]) && slot.isWithoutGap)
  }

  /// It is decided before anything is taken out.
  @Test(arguments: [false, true])
  func `overdue 103 of layer 1, 104, 105 of layer 2 that needs it, 107: a key frame where 106 may be of 105`(
    isNumbered: Bool
  ) throws {
    let slot = try slot(isNumbered: isNumbered)
    slot.take(slot.info(103, layer: 1))
    slot.pass(50)
    for packet in [slot.info(104), slot.info(105, layer: 2), slot.info(107)] { slot.take(packet) }
    slot.pass(251)
    slot.look()
    #expect(slot.needsKeyFrame != isNumbered && slot.isCut() != isNumbered)
    #expect(slot.leave() == (isNumbered ? [104, 107] : []))
  }

  @Test func `H.265: overdue 103 of sub-layer 1, 104, 105 of 2 that needs it, 106: only what needs it goes`()
    throws
  {
    let slot = try slot(CodecFormat(.h265))
    slot.take(slot.info(103, layer: 1))
    slot.pass(50)
    for packet in [slot.info(104), slot.info(105, layer: 2), slot.info(106)] { slot.take(packet) }
    slot.pass(251)
    slot.look()
    #expect(!slot.needsKeyFrame && !slot.isCut())
    #expect(slot.leave() == [104, 106] && slot.isWithoutGap)
  }
}
