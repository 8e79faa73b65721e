/// A slot's way from the encoding that it shows to another.
public struct EncodingCrossing: Equatable, Sendable {
  public var shown: UInt8
  public var next: UInt8

  public init(from shown: UInt8, to next: UInt8) { (self.shown, self.next) = (shown, next) }
}
