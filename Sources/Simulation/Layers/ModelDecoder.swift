internal import Model
internal import SyntheticPeers
internal import Wire

/// Holds a stream as it leaves the server against what a decoder needs of it: it knows what each frame refers to, and has what came
/// before in the stream alone.
struct ModelDecoder {
  /// A packet, opened.
  struct Packet {
    var sequence: UInt16
    var timestamp: UInt32
    var isMarked: Bool
    var pictureID: UInt16
    /// Nil in VP9's flexible mode.
    var tl0PictureIndex: UInt8?
    var isVP8: Bool
    var track: TrackName
    var frame: LayerFrame
    /// The frame's place in its track.
    var frameNumber: Int
    /// The packet's place in its frame.
    var place: Int
    /// Receivers see by its numbers what refers to it; else they wait for the rest of what has begun.
    var namesReferences = false
  }

  private var last: Packet?
  /// Frames that are there as a whole since the last key frame.
  private var whole: Set<Int> = []

  /// What came of a packet.
  struct Step {
    var problems: [String] = []
    var isNewPicture = false
    /// The stream goes on from another source, encoding or place, with a key frame.
    var isJoint = false
    var before: Packet?
  }

  /// - Parameter mayBeBehindLoss: what waited to leave was lost with its queue, and is repaired like any loss.
  mutating func take(_ packet: Packet, mayBeBehindLoss: Bool = false) -> Step {
    var step = Step(before: last)
    let frame = packet.frame
    if let last, mayBeBehindLoss, packet.sequence != last.sequence &+ 1, packet.track == last.track,
      frame.encoding == last.frame.encoding, packet.sequence &- last.sequence <= 1_024,
      packet.frameNumber >= last.frameNumber
    {
      whole.formUnion(last.frameNumber..<packet.frameNumber)
      step.isNewPicture = frame.picture != last.frame.picture
    } else if let last {
      if packet.sequence != last.sequence &+ 1 {
        step.problems.append("number \(packet.sequence) after \(last.sequence)")
      }
      // A slot that was paused for a moment may begin with the key frame that it showed last.
      let isBegunAgain = frame.isKey && packet.place == 0 && last.place + 1 == last.frame.packets
      let isSameFrame =
        packet.track == last.track && packet.frameNumber == last.frameNumber && !isBegunAgain
      if isSameFrame {
        if packet.place != last.place + 1 {
          step.problems.append("packet \(packet.place) of a frame after \(last.place)")
        }
      } else {
        // Of higher layers of frame rate what refers to it is found missing by that, where it can be seen.
        if last.place + 1 != last.frame.packets, last.frame.temporal == 0 || !last.namesReferences,
          !(frame.isKey && frame.spatial == 0)
        {
          step.problems.append("a frame that others wait for is cut off, and the next is no key frame")
        }
        if packet.place != 0 { step.problems.append("a frame without its beginning") }
      }
      let isSamePicture =
        packet.track == last.track && frame.encoding == last.frame.encoding
        && frame.picture == last.frame.picture && (isSameFrame || frame.spatial > 0)
      step.isNewPicture = !isSamePicture
      step.problems += numbers(packet, last, isSamePicture: isSamePicture)
      if packet.track != last.track || frame.encoding != last.frame.encoding {
        step.isJoint = true
        if !frame.isKey || frame.spatial > 0 {
          step.problems.append("goes on to encoding \(frame.encoding) without a key frame")
        }
      }
    } else {
      step.isNewPicture = true
      if !frame.isKey || frame.spatial > 0 || packet.place > 0 {
        step.problems.append("does not begin with a key frame")
      }
    }
    step.problems += references(packet)
    last = packet
    return step
  }

  private mutating func references(_ packet: Packet) -> [String] {
    let frame = packet.frame
    var problems: [String] = []
    if packet.place == 0 {
      if frame.isKey && frame.spatial == 0 { whole = [] }
      if let missing = frame.references.first(where: { !whole.contains($0) }) {
        problems.append(
          "frame \(packet.frameNumber) (layer \(frame.spatial).\(frame.temporal)) refers to \(missing), which was not sent"
        )
      }
    }
    if packet.place + 1 == frame.packets { whole.insert(packet.frameNumber) }
    return problems
  }

  private func numbers(_ packet: Packet, _ last: Packet, isSamePicture: Bool) -> [String] {
    var problems: [String] = []
    let time = Int32(bitPattern: packet.timestamp &- last.timestamp)
    let step = (packet.pictureID &- last.pictureID) & 0x7FFF
    if isSamePicture {
      if last.isMarked { problems.append("a picture goes on behind its marker") }
      if time != 0 { problems.append("the timestamp steps by \(time) within a picture") }
      if step != 0 { problems.append("the picture id steps by \(step) within a picture") }
      if let new = packet.tl0PictureIndex, let old = last.tl0PictureIndex, new != old {
        problems.append("TL0PICIDX changes within a picture")
      }
      return problems
    }
    let isCut = last.place + 1 != last.frame.packets
    if !last.isMarked, !isCut { problems.append("a picture without a marker") }
    if time <= 0 { problems.append("the timestamp steps by \(time)") }
    let isSameStream = packet.track == last.track && packet.frame.encoding == last.frame.encoding
    // Distances are what VP9 refers by, so that its ids keep the gaps of what is left out.
    let expected =
      packet.isVP8 || !isSameStream || packet.frame.isKey
      ? nil : (packet.frame.pictureID &- last.frame.pictureID) & 0x7FFF
    if packet.isVP8, step != 1 { problems.append("the picture id steps by \(step)") }
    if let expected, step != expected { problems.append("the picture id steps by \(step) for \(expected)") }
    if !packet.isVP8, expected == nil, !(1...0x3FFF).contains(step) {
      problems.append("the picture id steps by \(step)")
    }
    if let new = packet.tl0PictureIndex, let old = last.tl0PictureIndex, last.isVP8 == packet.isVP8 {
      let counted: UInt8 = packet.frame.temporal == 0 ? 1 : 0
      if new &- old != counted { problems.append("TL0PICIDX steps by \(new &- old) for \(counted)") }
    }
    return problems
  }
}
