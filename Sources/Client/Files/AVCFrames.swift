internal import Wire

/// Frames of H.264 as files have them, in the form of packets: units behind sizes of four bytes, and before a key frame the parameter
/// sets, which the file keeps apart.
struct AVCFrames {
  private let width: Int
  private let sets: [UInt8]

  /// - Parameter record: what the file has beside the track.
  /// - Returns: nil where it is none.
  init?(_ record: [UInt8]) {
    guard let (width, sets) = H264Configuration.read(record) else { return nil }
    self.width = width
    self.sets = sets.reduce(into: []) { Self.append($1[...], to: &$0) }
  }

  private static func append(_ unit: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: unit.count).bigEndian) { bytes += $0 }
    bytes += unit
  }

  /// - Returns: nil of bytes that are no frame.
  func frame(_ bytes: [UInt8], isKeyFrame: Bool) -> [UInt8]? {
    guard let units = NALUnits.behindSizes(bytes, width: width), !units.isEmpty else { return nil }
    let types = units.map { bytes[$0.lowerBound] & 0x1F }
    let needsSets = (isKeyFrame || types.contains(5)) && !types.contains(7)
    var frame = needsSets ? sets : []
    for unit in units { Self.append(bytes[unit], to: &frame) }
    return frame
  }
}
