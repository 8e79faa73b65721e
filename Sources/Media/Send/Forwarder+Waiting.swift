internal import Model

extension Forwarder {
  /// What of a packet is to be known while it waits.
  func waiting(_ info: PacketInfo) -> WaitingFrame {
    WaitingFrame(info, takesDescriptors: extensions.takesDescriptors)
  }
}

/// What of a packet says which others can be decoded without it: kept with what waits to leave, as the packet itself is kept elsewhere.
public struct WaitingFrame: BitwiseCopyable, Sendable {
  /// Packets with the same one are of one picture.
  let timestamp: UInt32
  let flags: PacketInfo.Flags
  let pictureID: UInt16
  let layer: LayerID
  let format: CodecFormat
  /// Receivers know which frames refer to it, and show the others where a part of it is missing. Else they go by the sequence numbers, and
  /// wait for the rest of each frame that has begun.
  public let namesReferences: Bool
  /// No other frame refers to it, nor to a number that it takes away with it.
  public let isFree: Bool

  init(_ info: PacketInfo, takesDescriptors: Bool) {
    timestamp = info.timestamp
    flags = info.flags
    pictureID = info.pictureID
    layer = info.layer
    format = info.format
    let hasIndex = info.tl0PictureIndexOffset != 0
    let isDescribed = takesDescriptors && info.carried.descriptorOffset != 0
    let isNumbered =
      switch info.format.codec {
      case .vp8: info.pictureIDOffset != 0 && hasIndex
      case .vp9: info.pictureIDOffset != 0
      default: false
      }
    namesReferences = isDescribed || isNumbered
    // The index of the lowest layer counts its pictures, whether others refer to them or not.
    isFree =
      info.flags.contains(.discardable) && !(hasIndex && info.layer.temporal == 0) && !info.isCountedBeginning
  }

  /// Nothing of its picture follows it.
  var ends: Bool { !flags.isDisjoint(with: [.marker, .endsLayerFrame]) }
  /// Whether it begins a stream, or its layer isn't known.
  var isFirm: Bool { !flags.isDisjoint(with: [.keyFrame, .layerUnknown]) }
}

extension PacketInfo {
  /// It begins a layer of VP8 that receivers follow by its pictures' ids: without it they wait with what follows up to the next beginning,
  /// whether that refers to it or not.
  var isCountedBeginning: Bool {
    format.codec == .vp8 && tl0PictureIndexOffset != 0 && flags.contains(.switchingPoint)
  }
}

/// The packets of one picture that wait to leave in a slot, and of which none shall.
public struct CutPicture: BitwiseCopyable, Sendable {
  let timestamp: UInt32
  let join: UInt8
  let format: CodecFormat
  /// The lowest layer of frame rate, and of size, that it has a frame in.
  private(set) var temporal: UInt8
  private(set) var spatial: UInt8
  /// No other picture refers to it, nor is shown for its sake.
  private(set) var isFree: Bool
  /// One of them begins a stream, or can't be judged.
  private(set) var isFirm: Bool
  private(set) var namesReferences: Bool
  /// Their places among what the stream shows, and how many they are.
  private let first: Int64
  private var last: Int64
  private var count: Int64 = 1
  private var begins: Bool
  private var ends: Bool
  /// What the source has sent behind them; nil: nothing of it waits.
  private var following: Following?

  private enum Following: BitwiseCopyable { case next, other }

  /// - Parameter sequence: the source's number.
  public init(_ frame: WaitingFrame, _ selection: Selection, sequence: Int64) {
    timestamp = frame.timestamp
    join = selection.join
    format = frame.format
    temporal = frame.layer.temporal
    spatial = frame.layer.spatial
    first = sequence &- selection.closedPlaces
    last = first
    begins = frame.flags.contains(.frameStart)
    ends = frame.ends
    isFree = frame.isFree && !selection.mends
    isFirm = frame.isFirm || selection.joins
    namesReferences = frame.namesReferences
  }

  /// Whether a packet is of the picture. One that came late has a place of its own among those that have left, and is left alone.
  public func has(_ frame: WaitingFrame, _ selection: Selection) -> Bool {
    frame.timestamp == timestamp && selection.join == join && !selection.isLate
  }

  public mutating func add(_ frame: WaitingFrame, _ selection: Selection, sequence: Int64) {
    temporal = min(temporal, frame.layer.temporal)
    spatial = min(spatial, frame.layer.spatial)
    last = sequence &- selection.closedPlaces
    count &+= 1
    begins = begins || frame.flags.contains(.frameStart)
    ends = frame.ends
    isFree = isFree && frame.isFree && !selection.mends
    isFirm = isFirm || frame.isFirm || selection.joins
    namesReferences = namesReferences && frame.namesReferences
  }

  /// The first packet behind them that isn't of the picture, and didn't come late.
  public mutating func meet(_ selection: Selection, sequence: Int64) {
    guard following == nil else { return }
    let isNext = selection.join == join && sequence &- selection.closedPlaces == last &+ 1
    following = isNext ? .next : .other
  }

  /// All of the picture's packets wait, so that none comes when the others are gone: numbers that have no gap don't say that it is of none.
  /// - Parameter next: the place of what the source sends next; nil: it isn't known.
  func isWhole(next: Int64?) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.wholeNotAsked) { return true }
    #endif
    guard begins, last &- first &+ 1 == count else { return false }
    return switch following {
    case .next?: true
    case .other?: false
    case nil: ends && next == last &+ 1
    }
  }
}

/// A walk through what waits in a slot, in its order, which takes packets out: those behind them move up.
public struct StreamThinning: BitwiseCopyable, Sendable {
  let join: UInt8
  /// What is missing at the place that the walk has come to.
  var missing = MissingLayers()
  /// Taken out since its beginning.
  var places: Int64 = 0
  var pictures: UInt16 = 0
  /// The picture of which a packet was taken out last.
  var last: UInt32?

  init(join: UInt8) { self.join = join }

  /// What lies behind moves up.
  public var isMoving: Bool { places > 0 }
}
