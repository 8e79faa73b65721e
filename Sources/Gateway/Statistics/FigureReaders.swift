internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Who reads figures at present: each costs what its figures do, every two seconds.
final class FigureReaders: Sendable {
  /// Of one token at once, and of all together.
  static let ofOne = 4
  static let most = 64

  enum Full: Error { case one, all }

  /// Held by a reader, and free again with it.
  final class Seat: Sendable {
    private let readers: FigureReaders
    private let holder: Int

    fileprivate init(_ holder: Int, _ readers: FigureReaders) {
      (self.holder, self.readers) = (holder, readers)
    }

    deinit { readers.leave(holder) }
  }

  private let taken = Mutex<[Int: Int]>([:])

  init() {}

  /// How many read.
  var count: Int { taken.withLock { $0.values.reduce(0, +) } }

  /// - Parameter holder: stands for a token.
  func take(_ holder: Int) throws(Full) -> Seat {
    let full = taken.withLock { taken -> Full? in
      if taken.values.reduce(0, +) >= Self.most { return .all }
      #if PLANTED_DEFECTS
        let most = PlantedDefect.isOn(.figuresForOne) ? Self.most : Self.ofOne
      #else
        let most = Self.ofOne
      #endif
      guard taken[holder, default: 0] < most else { return .one }
      taken[holder, default: 0] += 1
      return nil
    }
    if let full { throw full }
    return Seat(holder, self)
  }

  private func leave(_ holder: Int) {
    taken.withLock { taken in
      let before = taken[holder] ?? 1
      taken[holder] = before > 1 ? before - 1 : nil
    }
  }
}
