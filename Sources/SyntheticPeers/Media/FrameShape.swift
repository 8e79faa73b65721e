/// How a track's frames become packets.
public struct FrameShape: Sendable {
  /// Nanoseconds from one frame to the next.
  public var interval: Int64
  /// Bytes of a packet's payload.
  public var packetSize: ClosedRange<Int>
  /// Packets of a frame.
  public var packets: ClosedRange<Int>
  public var keyFramePackets: ClosedRange<Int>

  public static let audio = FrameShape(
    interval: 20_000_000, packetSize: 40...120, packets: 1...1, keyFramePackets: 1...1)
  public static let video = FrameShape(
    interval: 50_000_000, packetSize: 60...600, packets: 1...4, keyFramePackets: 3...7)
}
