/// A slot's way from the encoding that it shows to another, or to other layers of size of the same one.
public struct EncodingCrossing: Equatable, Sendable {
  public var shown: UInt8
  public var next: UInt8
  /// Of one encoding the highest layers of size, 255: all that there are; between encodings both are 0.
  public private(set) var layer: UInt8 = 0
  public private(set) var nextLayer: UInt8 = 0

  public init(from shown: UInt8, to next: UInt8) { (self.shown, self.next) = (shown, next) }

  /// A way to other layers of size of an encoding.
  public init(of encoding: UInt8, from layer: UInt8, to nextLayer: UInt8) {
    self.init(from: encoding, to: encoding)
    (self.layer, self.nextLayer) = (layer, nextLayer)
  }
}
