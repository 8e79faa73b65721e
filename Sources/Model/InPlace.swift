public import Synchronization

/// A member that keeps a large struct in its place, and all that the struct is in.
///
/// A struct that could lie in registers is copied to the stack for each read-only call into another module, however large it is: 11 KB for
/// one property of a peer. One with an atomic in it can't, and is read where it lies.
public struct InPlace: ~Copyable, Sendable {
  @usableFromInline let marker = Atomic<UInt8>(0)
  public init() {}
}
